### Texts of classes: the list, and the room of one class.

classes = Classes
all-classes = All classes
no-classes = You have no classes.
my-classes = My classes
archived = Archived
new-class = New class
class-name = Name of the class
class-teachers = Teachers
class-teachers-hint = Addresses, one per line. Empty: you.
create-class = Create class
# $line: number of the line. $entry: the unreadable text.
classes-unreadable = Line { $line }: “{ $entry }” is not an e-mail address.
class-catalog = Workshops of this class
class-no-templates = This class has no workshops yet.

role = Role
class-ends = Ends
role-none = No member
role-student = Student
role-assistant = Assistant
role-teacher = Teacher

members = Members
members-table = Members with their workshops
member = Member
add-members = Add members
add-members-hint = Paste addresses, or a table with its header, as your course system exports it. You see all changes before they are made.
remove-member = Remove
# $email: address of the member.
remove-member-question = Remove { $email } from the class?
remove-member-warning = Their workshops of this class end. Their saved work stays theirs.
# $name: name of the workshop.
end-of-member-question = End the workshop { $name }?
end-of-member-warning = Its owner loses unsaved work.

# Groups of members on the board, and the number of each.
standing-failed = Failed
standing-trouble = Trouble with course material
standing-absent = Not here
standing-starting = Starting
standing-paused = Paused
standing-ready = Ready

### The settings of a class.

class-settings = Settings of the class
class-save = Save
class-changed-meanwhile = The class has changed in the meantime. Open this page again, and repeat your changes.
class-field-name = Name
    .hint = One line.
class-field-description = Description
    .hint = Members and people with the join link see it. Markdown.
class-field-starts-on = First day
    .hint = Empty: students can launch at once.
class-field-ends-on = Last day
    .hint = Empty: without end.
class-field-max-workshops = Workshops of the class at a time
    .hint = Empty: only the limits of this launcher. Only admins raise it.
class-field-max-workshops-per-member = Workshops of a student at a time
    .hint = Empty: only the limits of this launcher. Only admins raise it.
class-field-queue-weight = Weight in the queue
    .hint = 1 to 10. With twice the weight, twice as many workshops of the class start at a time.
class-field-slug = Name in addresses
    .hint = Links with the former name no longer lead here.
class-field-archived = The class is over
    .hint = Students can no longer launch. Running workshops continue.
