-- SHA-256 of the event and of the hash before it; '' where the program that appended it had no
-- chain yet (those are chained at the next start). docs/formats/event-log.md.
ALTER TABLE events ADD COLUMN hash TEXT NOT NULL DEFAULT '';
