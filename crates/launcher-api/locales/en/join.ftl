### Join links: the panel and the code for teachers, and the pages on which a person joins a class.

join-link = Join link
join-link-until = Valid until
join-link-closed = This link no longer works. The teacher can create a new one.
join-link-show = Show the code
join-link-revoke = Revoke the link
join-link-none = The class has no join link.
join-link-new = New link
join-link-valid = Valid for
join-link-seats = Number of places
join-link-seats-hint = Empty: no limit.
join-link-domain = Only addresses of the domain
join-link-domain-hint = Empty: every person who can log in.
join-link-members-only = Only for people who are already members
join-link-create = Create link
join-with = Join the class
join-qr = QR code of the join link
join-title = Join a class
join-refused = You cannot join with this link
join-button = Join
join-code = Code
join-code-hint = 10 letters and digits, as your teacher shows them.
join-continue = Continue
join-unknown = No class has this code. Compare it with the one that your teacher shows, letter by letter.
join-enter = Join a class with a code
back-to-class = Back to the class
# $people: number of people.
join-link-joined = { $people ->
    [one] { $people } person joined
   *[other] { $people } people joined
}
# $people: number of people; $seats: number of places.
join-link-joined-of = { $people } of { $seats } places taken
# $days: number of days.
join-link-days = { $days ->
    [one] { $days } day
   *[other] { $days } days
}
# $email: address of the reader.
join-question = You are logged in as { $email }. Join this class?
# $email: address of the reader.
join-account = You are logged in as { $email }.
# $minutes: number of minutes.
join-too-many = You tried many wrong codes. Try again in { $minutes ->
    [one] { $minutes } minute
   *[other] { $minutes } minutes
}.
