### Texts of the page with all workshops of a template, and of their extension.

# Link to the workshops of a template, and head of the column with this link.
workshops-of-template = Workshops
# Head of a column: number of running workshops of each template.
workshops-size = Running now

# Title of the page in the browser.
workshops-title = Workshops of { $name }

# Link to the list of all instances, with only this template.
workshops-all-instances = All instances of this template

# Name of the numbers of workshops by state, for screen readers.
workshops-states = Workshops by state

# Label of the list of times.
workshops-extend-until = Extend all workshops until

# Button that extends all ready workshops.
workshops-extend = Extend all

# Explains the extension.
workshops-extend-hint = Extends each ready workshop, at most to its maximum lifetime. No workshop ends earlier.

# Label that opens the form with the addresses.
workshops-roster = Who has not launched?

# Label of the field with the addresses.
workshops-addresses = E-mail addresses

# Explains the field with the addresses.
workshops-addresses-hint = Separate addresses by line breaks, commas or semicolons. At most { $most } addresses. They are not stored.

# Button that sends the addresses.
workshops-compare = Compare

# Error if the field has too many addresses.
workshops-too-many = The list has more than { $most } entries. Paste fewer at a time.

# Heading of the result of the comparison.
workshops-compared = Your list

# People who have no workshop of the template.
workshops-not-launched = Not launched

# Entries of the field that are not e-mail addresses.
workshops-unreadable = Not an e-mail address

# Heading of the table of workshops.
workshops-instances = Current workshops

# Text if the template has no workshop.
workshops-empty = There are no workshops of this template now.

# Note above a table that shows only a part of the workshops.
workshops-part = This page shows { $shown } of { $all } workshops.

# Button that opens the first part of the table.
workshops-first = First page

# Heading of the result: the requested time.
workshops-result = Extension until { $value }

# Result for one workshop: the new expiry.
workshops-extended = Extended until { $value }

# Result for one workshop: an expiry before the requested time.
workshops-shortened = Extended only until { $value }, its maximum lifetime

# Result for one workshop: the expiry that it already had.
workshops-unchanged = Unchanged: ends at { $value }

# Labels of the numbers of results.
workshops-count-extended = Extended
workshops-count-shortened = Extended to the maximum
workshops-count-unchanged = Unchanged
workshops-count-refused = Not extended

# Result if the template has no ready workshop.
workshops-nothing-ready = No workshop is ready. Nothing was extended.

# Link from the result back to the workshops.
workshops-back = Back to the workshops

# Error if the form has no valid time. No page of this service sends such a form.
workshops-until-invalid = Choose a time from the list.

# Label of the number of workshops whose course material did not load, or has files in conflict.
material-trouble-count = Course material has a problem
