### Texts of classes: the list, and the room of one class.

classes = Classes
all-classes = All classes
no-classes = You have no classes.
my-classes = My classes
archived = Archived
new-class = New class
class-name = Name of the class
class-teachers = Teachers
class-teachers-hint = E-mail addresses, one per line. If you leave this empty, you are the teacher.
# Label of the field that adds members.
class-addresses = E-mail addresses of the class
create-class = Create class
# $line: number of the line. $entry: the unreadable text.
classes-unreadable = Line { $line }: “{ $entry }” is not an e-mail address.
class-catalog = Workshops of this class
class-no-templates = This class has no workshops yet.
# Badge of a template that the policy of the class does not allow any more.
not-allowed-here = Not allowed in this class

role = Role
class-ends = Ends
role-none = Not a member
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

# Groups of members on the board, and the number of each.
standing-failed = Failed
standing-trouble = Trouble with course material
standing-absent = Not here
standing-joined = Was here
# $value: the time.
standing-left-at = Was here until { $value }
last-use-at = · last used { $value }
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
class-field-namespace = Kubernetes namespace
    .hint = One that the administrator has set up for classes. A change applies to later launches; kept files stay where they are.
class-field-namespace-default = that of all other workshops
class-field-slug = Name in addresses
    .hint = Links with the former name no longer lead here.
class-field-allowed-images = Allowed images
    .hint = One per line: an image, with or without tag, or the beginning of images, as in quay.io/jupyter/*. Empty: all images.
class-field-allowed-sizes = Allowed sizes
    .hint = One per line: names of sizes of this launcher, such as small. Empty: all resources.
class-field-allows-baseline = Teachers may use the profile baseline
    .hint = It allows root in the container, which standard RStudio images need.
class-field-folds-catalog = Fold the shared catalog
    .hint = The start page of the members shows only the workshops of their classes, and the others on request.
class-field-archived = The class is over
    .hint = Students can no longer launch. Running workshops continue.

### The board.

board-search = Name or address
board-standing = State of the members
board-all-standings = All states
board-none-found = No member matches.

### Actions on all workshops of a class.

class-actions = All workshops of the class
all-launch-title = Launch for all
# $count: number of students.
all-launch-question = { $count ->
    [one] Launch a workshop for the student of the class?
   *[other] Launch a workshop for each of the { $count } students?
}
all-launch-warning = Students who have a workshop of this template keep it. The others get one, which they find on their start page.
all-launch-template = Template
all-launch-result = Launch for all students
all-launch-done = Launched
all-launch-unchanged = Already has this workshop
all-extend-title = Extend all
# $count: number of ready workshops.
all-extend-question = { $count ->
    [one] Extend the ready workshop of the class?
   *[other] Extend the { $count } ready workshops of the class?
}
all-extend-warning = Each lasts at most until its maximum lifetime. No workshop ends earlier.
all-pause-title = Pause all
# $count: number of ready workshops.
all-pause-question = { $count ->
    [one] Pause the ready workshop of the class?
   *[other] Pause the { $count } ready workshops of the class?
}
all-pause-warning = Their programs stop. Their saved files stay, and each owner can resume. Workshops that keep no files continue.
all-pause-result = Pause of all workshops
all-pause-done = Paused
all-end-title = End all
# $count: number of workshops that have not ended.
all-end-question = { $count ->
    [one] End the workshop of the class?
   *[other] End all { $count } workshops of the class?
}
all-end-warning = Their programs stop.
all-end-result = End of all workshops
all-end-done = Ended
all-end-unchanged = Was ending already
all-count-refused = Not done
all-nothing = There was nothing to do.
all-needs-values = The launch of this template asks for values, which only the student knows. Give each value a default in the template, or share the link of the template.

# Reasons why a launch for another person was refused. $limit: number of workshops.
other-limit = Has { $limit } workshops, which is the limit
other-class-limit = Has { $limit } workshops in this class, which is the limit
all-class-limit = The class has { $limit } workshops, which is its limit
other-too-many-launches = Launched too often in a short time
other-volume-in-use = Another workshop of this person uses the saved files
# $gib: limit in GiB.
other-storage = Has { $gib } GiB of saved work, which is the limit

projector = Projector view
attendance = Download attendance
class-manage = Manage the class
class-state-not-begun = Not begun
class-state-over = Over
class-member-states = Members by state
all-none = There is nothing to do.
guide-class = Your class in ten steps
guide-code = Example: the code on the projector.
guide-board = Example: the page of the class.
guide-hand = Example: a raised hand, and a message to all.
guide-message = Exercise 2 begins now.
guide-ada = Ada Lovelace
guide-alan = Alan Turing
guide-grace = Grace Hopper
class-field-fixed = Only admins change it.
