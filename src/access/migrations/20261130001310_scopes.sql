-- A token may be worth less than its user: at most this role ('': the user's), in one project only.
ALTER TABLE tokens ADD COLUMN role_max TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN only_project INTEGER NOT NULL DEFAULT 0;

-- The role of a user in a project, instead of the user's own.
CREATE TABLE project_members (
  project TEXT NOT NULL REFERENCES projects (name),
  user_name TEXT NOT NULL REFERENCES users (name),
  role TEXT NOT NULL,
  PRIMARY KEY (project, user_name)
) STRICT, WITHOUT ROWID;
