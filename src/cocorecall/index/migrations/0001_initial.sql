-- Tables and columns that other tools read (the data contract) stand first in each table; what CocoRecall
-- adds for itself follows. Large texts come last in a row: SQLite then reads the rest without them.

CREATE TABLE sessions (
    id            TEXT NOT NULL PRIMARY KEY,
    start_time    TEXT,
    end_time      TEXT,
    phase_context TEXT,
    entity_tags   TEXT NOT NULL DEFAULT '',
    source_path   TEXT NOT NULL,
    -- sessions are numbered in the order of their first import, so numbers grow with time;
    -- a turn's `doc` is number << 24 | seq, which makes a session one range of the full-text index
    number        INTEGER NOT NULL UNIQUE,
    native_id     TEXT NOT NULL,
    agent         TEXT NOT NULL,
    title         TEXT,
    summary       TEXT,
    cwd           TEXT,
    git_branch    TEXT,
    parent_id     TEXT,
    session_type  TEXT,
    turn_count    INTEGER NOT NULL DEFAULT 0,
    chars         INTEGER NOT NULL DEFAULT 0,
    shared_turns  INTEGER NOT NULL DEFAULT 0,
    shared_with   TEXT,
    imported_at   TEXT
);
CREATE INDEX sessions_by_native_id ON sessions (native_id);
CREATE INDEX sessions_by_source ON sessions (source_path);
CREATE INDEX sessions_by_start ON sessions (start_time);

CREATE TABLE turns (
    id           TEXT NOT NULL UNIQUE,
    session_id   TEXT NOT NULL,
    speaker_role TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    summary      TEXT NOT NULL DEFAULT '',
    text_hash    TEXT NOT NULL,
    tags         TEXT NOT NULL DEFAULT '',
    doc          INTEGER NOT NULL PRIMARY KEY,
    timestamp    TEXT NOT NULL,
    time_source  TEXT NOT NULL,
    zoned        INTEGER NOT NULL DEFAULT 1,
    kind         TEXT NOT NULL DEFAULT 'message',
    echo         INTEGER NOT NULL DEFAULT 0,
    cues         INTEGER NOT NULL DEFAULT 0,   -- bits: asks, names a time, a number, a reason
    in_source    INTEGER NOT NULL DEFAULT 1,
    native_id    TEXT,
    source_line  INTEGER,
    chars        INTEGER NOT NULL,      -- characters of text and calls: the length that ranking uses
    text_length  INTEGER NOT NULL,      -- true length of the text, where it was stored cut
    content_key  BLOB NOT NULL,         -- digest of all that a re-import compares
    text         TEXT NOT NULL,
    thinking     TEXT NOT NULL DEFAULT ''
);

CREATE INDEX turns_echo ON turns (doc) WHERE echo;

CREATE TABLE tool_calls (
    session_id     TEXT NOT NULL,
    name           TEXT NOT NULL,
    payload        TEXT,
    turn_id        TEXT,
    doc            INTEGER,
    position       INTEGER NOT NULL DEFAULT 0,
    call_id        TEXT,
    status         TEXT,
    duration_ms    INTEGER,
    result_turn_id TEXT
);
CREATE INDEX tool_calls_by_doc ON tool_calls (doc);

CREATE TABLE function_touches (
    session_id TEXT NOT NULL, function_name TEXT NOT NULL, how TEXT, turn_id TEXT, doc INTEGER, payload TEXT
);
CREATE TABLE evaluation_results (
    session_id TEXT NOT NULL, metric TEXT NOT NULL, value, payload TEXT,
    unit TEXT, threshold REAL, turn_id TEXT, doc INTEGER
);
CREATE TABLE outcome_contracts (
    session_id TEXT NOT NULL, function_name TEXT NOT NULL, outcome_type TEXT, status TEXT, payload TEXT,
    turn_id TEXT, doc INTEGER
);
CREATE TABLE strategy_usage (
    session_id TEXT NOT NULL, strategy_id TEXT NOT NULL, turn_id TEXT, doc INTEGER
);
CREATE TABLE key_decisions (
    session_id TEXT NOT NULL, decision TEXT NOT NULL, role TEXT, turn_id TEXT, doc INTEGER
);
CREATE TABLE entities (
    name TEXT NOT NULL, type TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT, doc INTEGER, spelling TEXT
);
CREATE INDEX function_touches_by_session ON function_touches (session_id);
CREATE INDEX function_touches_by_name ON function_touches (function_name);
CREATE INDEX evaluation_results_by_session ON evaluation_results (session_id);
CREATE INDEX outcome_contracts_by_session ON outcome_contracts (session_id);
CREATE INDEX outcome_contracts_by_name ON outcome_contracts (function_name);
CREATE INDEX strategy_usage_by_session ON strategy_usage (session_id);
CREATE INDEX key_decisions_by_session ON key_decisions (session_id);
CREATE INDEX entities_by_session ON entities (session_id);
CREATE INDEX entities_by_name ON entities (name);

CREATE TABLE citations (
    query TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL,
    source_exists INTEGER NOT NULL, ts TEXT NOT NULL
);
CREATE INDEX citations_by_session ON citations (session_id, ts);

CREATE TABLE import_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT) WITHOUT ROWID;

-- what each transcript looked like when it was last read: unchanged ones are not opened again
CREATE TABLE transcripts (
    path        TEXT NOT NULL PRIMARY KEY,
    source      TEXT NOT NULL,
    signature   TEXT NOT NULL,
    agent       TEXT,
    state       TEXT NOT NULL,          -- ok | unreadable | unrecognised | empty
    skipped     TEXT NOT NULL DEFAULT '[]',
    unknown     TEXT NOT NULL DEFAULT '{}',
    sessions    INTEGER NOT NULL DEFAULT 0,
    imported_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sources (
    path TEXT NOT NULL PRIMARY KEY, last_import TEXT, found INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- the first turn that holds a globally unique record; copies of it elsewhere are recognised by this.
-- key: eight bytes of the digest of the record's id
CREATE TABLE records (key INTEGER NOT NULL PRIMARY KEY, doc INTEGER NOT NULL);
-- where else a turn stands, by forks and resumes
CREATE TABLE copies (
    doc INTEGER NOT NULL, session_id TEXT NOT NULL, PRIMARY KEY (doc, session_id)
) WITHOUT ROWID;
CREATE INDEX copies_by_session ON copies (session_id);

-- folders that a session worked in, and speakers of the whole index
CREATE TABLE folders (
    session_id TEXT NOT NULL, cwd TEXT NOT NULL, PRIMARY KEY (session_id, cwd)
) WITHOUT ROWID;
CREATE TABLE speakers (role TEXT NOT NULL PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID;

-- sessions that the user had removed: an import does not bring them back
CREATE TABLE forgotten (
    session_key TEXT NOT NULL PRIMARY KEY, forgotten_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE VIRTUAL TABLE turn_words USING fts5 (
    text, calls, tags,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE turn_vocabulary USING fts5vocab (turn_words, 'row');
