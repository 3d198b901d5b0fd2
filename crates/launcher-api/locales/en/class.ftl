### Texts of the page of a class, and of the extension of all its workshops.

# Link to the class of a template, and head of the column with this link.
class = Class
# Head of a column: number of running workshops of each template.
class-size = Running now

# Title of the page in the browser.
class-title = Class: { $name }

# Link to the list of all instances, with only this template.
class-all-instances = All instances of this template

# Name of the numbers of workshops by state, for screen readers.
class-states = Workshops by state

# Label of the list of times.
class-extend-until = Extend all workshops until

# Button that extends all ready workshops.
class-extend = Extend all

# Explains the extension.
class-extend-hint = Extends each ready workshop, at most to its maximum lifetime. No workshop ends earlier.

# Label that opens the form with the addresses of the class.
class-roster = Who has not launched?

# Label of the field with the addresses.
class-addresses = E-mail addresses of the class

# Explains the field with the addresses.
class-addresses-hint = Separate addresses by line breaks, commas or semicolons. At most { $most } addresses. They are not stored.

# Button that sends the addresses.
class-compare = Compare

# Error if the field has too many addresses.
class-too-many = The list has more than { $most } entries. Paste fewer at a time.

# Heading of the result of the comparison.
class-compared = Your list

# People who have no workshop of the template.
class-not-launched = Not launched

# Entries of the field that are not e-mail addresses.
class-unreadable = Not an e-mail address

# Heading of the table of workshops.
class-instances = Current workshops

# Text if the template has no workshop.
class-empty = There are no workshops of this template now.

# Note above a table that shows only a part of the workshops.
class-part = This page shows { $shown } of { $all } workshops.

# Button that opens the first part of the table.
class-first = First page

# Heading of the result: the requested time.
class-result = Extension until { $value }

# Result for one workshop: the new expiry.
class-extended = Extended until { $value }

# Result for one workshop: an expiry before the requested time.
class-shortened = Extended only until { $value }, its maximum lifetime

# Result for one workshop: the expiry that it already had.
class-unchanged = Unchanged: ends at { $value }

# Labels of the numbers of results.
class-count-extended = Extended
class-count-shortened = Extended to the maximum
class-count-unchanged = Unchanged
class-count-refused = Not extended

# Result if the template has no ready workshop.
class-nothing-ready = No workshop is ready. Nothing was extended.

# Link from the result back to the class.
class-back = Back to the class

# Error if the form has no valid time. No page of this service sends such a form.
class-until-invalid = Choose a time from the list.

# Label of the number of workshops whose course material did not load, or has files in conflict.
material-trouble-count = Course material has a problem
