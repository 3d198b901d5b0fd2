"""The parts of `setup`. They use Python's standard library only.

settings   the answers of the administrator: read, checked, stored
questions  flags and questions
secret     the generated secrets
accounts   local accounts, their passwords and the printed sheet
tls        certificates: given files, ACME, a private authority
generate   all files, from settings, secrets and accounts
stored     reads the files that setup stores
folders    checks that the folders are unused
files      writes files: atomically, with safe permissions, only if they differ
lock       one command at a time
engine     Docker or Podman, and Compose
checks     DNS, ports, memory, images
kernel     kernel parameters of the server
login      checks that a login works
data       the data directory
archive    the format of a backup, and its reader
backup     saves a backup
restore    replaces the files of an installation by those of a backup
commands   the commands, one module each
cli        the command line
"""
