-- What turns touch, extracted from the stored turns themselves, so that it can be derived anew without any source.
-- Rows that a transcript states in so many words (`stated`) are kept apart from what is extracted.

ALTER TABLE function_touches ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evaluation_results ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outcome_contracts ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE strategy_usage ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE key_decisions ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entities ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
UPDATE function_touches SET stated = 1;
UPDATE evaluation_results SET stated = 1;
UPDATE outcome_contracts SET stated = 1;
UPDATE strategy_usage SET stated = 1;
UPDATE key_decisions SET stated = 1;
UPDATE entities SET stated = 1;

-- a session is a range of `doc`, so one index by `doc` serves turn and session
DROP INDEX function_touches_by_session;
DROP INDEX evaluation_results_by_session;
DROP INDEX outcome_contracts_by_session;
DROP INDEX strategy_usage_by_session;
DROP INDEX key_decisions_by_session;
DROP INDEX entities_by_session;
CREATE INDEX function_touches_by_doc ON function_touches (doc);
CREATE INDEX evaluation_results_by_doc ON evaluation_results (doc);
CREATE INDEX evaluation_results_by_name ON evaluation_results (metric);
CREATE INDEX outcome_contracts_by_doc ON outcome_contracts (doc);
CREATE INDEX strategy_usage_by_doc ON strategy_usage (doc);
CREATE INDEX key_decisions_by_doc ON key_decisions (doc);
CREATE INDEX entities_by_doc ON entities (doc);
-- which sessions share a name is asked for every hit of a search: the index alone answers it
DROP INDEX entities_by_name;
CREATE INDEX entities_by_name ON entities (name, doc);
CREATE INDEX function_touches_stated ON function_touches (session_id) WHERE stated;
CREATE INDEX evaluation_results_stated ON evaluation_results (session_id) WHERE stated;
CREATE INDEX outcome_contracts_stated ON outcome_contracts (session_id) WHERE stated;
CREATE INDEX strategy_usage_stated ON strategy_usage (session_id) WHERE stated;
CREATE INDEX key_decisions_stated ON key_decisions (session_id) WHERE stated;
CREATE INDEX entities_stated ON entities (session_id) WHERE stated;

CREATE TABLE premortems (
    stage_id                TEXT NOT NULL,
    timestamp               TEXT,
    failure_scenario        TEXT,
    prevention_status       TEXT,
    operator_acknowledgment TEXT,
    source_path             TEXT NOT NULL,
    session_id              TEXT NOT NULL,
    turn_id                 TEXT NOT NULL,
    doc                     INTEGER NOT NULL
);
CREATE INDEX premortems_by_doc ON premortems (doc);
CREATE INDEX premortems_by_stage ON premortems (stage_id);

-- errors that tool results report, in the form in which the same error is found again
CREATE TABLE errors (
    session_id TEXT NOT NULL, turn_id TEXT NOT NULL, doc INTEGER NOT NULL,
    error TEXT NOT NULL, normalized TEXT NOT NULL
);
CREATE INDEX errors_by_doc ON errors (doc);
CREATE INDEX errors_by_form ON errors (normalized);

-- what the transcript itself says, beside `tags` and `entity_tags`, which hold what was extracted too
ALTER TABLE turns ADD COLUMN said_tags TEXT NOT NULL DEFAULT '';
UPDATE turns SET said_tags = tags WHERE tags <> '';
ALTER TABLE sessions ADD COLUMN said_entity_tags TEXT NOT NULL DEFAULT '';
UPDATE sessions SET said_entity_tags = entity_tags;

-- 1: its turns have never been read for facets; 2: they are to be read again; 0: done
ALTER TABLE sessions ADD COLUMN facets_pending INTEGER NOT NULL DEFAULT 1;
CREATE INDEX sessions_pending ON sessions (number) WHERE facets_pending;
