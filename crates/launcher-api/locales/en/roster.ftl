### Texts of the roster of a class: a list of people, the preview of its changes, one member, and the file of a class.

# $columns: the names of the columns of the table.
roster-no-addresses = No column of the list has e-mail addresses. Its columns are: { $columns }. Export the list with a column of addresses.
roster-no-text = The file is not a text. Save the table as CSV first.
roster-empty = The list has no people.
roster-file = Or a file
roster-file-hint = A table as CSV, from Moodle, Canvas, Blackboard or a spreadsheet.
roster-new-role = Role of new members
roster-check = Check the list
roster-preview = What the list changes
roster-added = Added
roster-new-roles = Role changes
roster-new-names = Name changes
roster-unchanged = Unchanged
roster-missing = Members who are not in the list
roster-missing-hint = They stay members, unless you tick them. The workshops of removed members in this class end.
# $from, $to: the role or the name before and after.
roster-change = { $from } → { $to }
# $line: number of the line.
roster-line = Line { $line }
roster-apply = Apply the changes
roster-no-changes = The list adds and changes no member.
roster-export = Export the members as CSV
edit-member = Edit
member-name = Name
save-member = Save
import-class = Import a class
class-file = File of the class
class-file-hint = A file that “Export this class” has saved, with the class and its templates. You become its teacher. The file has no members.
export-class = Export this class
