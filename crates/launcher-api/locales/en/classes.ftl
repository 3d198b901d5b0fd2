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
# $entry: the unreadable text.
classes-unreadable = “{ $entry }” is not an e-mail address.
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
add-members-hint = Paste addresses, as your course list has them. People who are already members get this role. The list removes no member.
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
