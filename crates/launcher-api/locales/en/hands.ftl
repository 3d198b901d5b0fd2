### Texts of hands and messages on the pages of a class.

raise-hand = Raise hand
lower-hand = Lower hand
hand-raised = Your hand is raised.
# $who: name or address of the person who comes to help.
help-comes = { $who } comes to help you.
class-message = Message to the class:
dismiss-message = Dismiss
hand = Your hand
raise-hand-hint = Your teacher sees that you need help.
# $count: number of raised hands.
raised-hands = Raised hands: { $count }
# $who: name or address of the person who comes to help.
hand-taken = { $who } helps
take-hand = I help
hand-done = Done
message-to-class = Message to all
message-text = Message
message-hint = All members see it for 2 hours: on this page, on their start page, and in the bar above their workshops. It replaces the current message.
send-message = Send
remove-message = Remove message
