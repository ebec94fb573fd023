// The tables of a PostgreSQL store and their migrations. All times come from the database: leases are measured by its
// `now_ms()`, so clocks of the processes do not matter.
import type { ClientBase } from 'pg'

type Connection = Pick<ClientBase, 'query'>

/** Each migration runs once, in order. A published one never changes. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE FUNCTION %s.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

  -- One counter for all sessions: the owner of a removed session must not be mistaken for that of its successor.
  CREATE SEQUENCE %s.epochs;

  CREATE TABLE %s.sessions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL DEFAULT 0,
    pos bigint NOT NULL DEFAULT -1,
    last_ms bigint NOT NULL DEFAULT 0,
    is_owned boolean NOT NULL DEFAULT false
  ) WITH (fillfactor = 80);
  CREATE INDEX sessions_recoverable ON %s.sessions (id) WHERE is_owned;

  CREATE TABLE %s.leases (
    session bigint PRIMARY KEY REFERENCES %s.sessions ON DELETE CASCADE,
    owner text NOT NULL,
    address text,
    until_ms bigint NOT NULL,
    asked_by text
  ) WITH (fillfactor = 70);
  CREATE INDEX leases_owner ON %s.leases (owner);

  CREATE TABLE %s.records (
    session bigint NOT NULL REFERENCES %s.sessions ON DELETE CASCADE,
    pos bigint NOT NULL,
    -- For people: its time, and the types of its input and of its facts.
    ms bigint NOT NULL,
    input text NOT NULL,
    facts text NOT NULL,
    body json NOT NULL,
    PRIMARY KEY (session, pos)
  );
  CREATE TABLE %s.snapshots (
    session bigint PRIMARY KEY REFERENCES %s.sessions ON DELETE CASCADE,
    body json NOT NULL
  );
  -- Any string: text here cannot hold U+0000.
  CREATE TABLE %s.blobs (
    session bigint NOT NULL REFERENCES %s.sessions ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    is_utf16 boolean NOT NULL,
    PRIMARY KEY (session, name)
  );

  -- One row: written to find out whether writing is possible, and what hosts note of the time until which they lived.
  CREATE TABLE %s.health (at timestamptz NOT NULL, heartbeat text);
  INSERT INTO %s.health VALUES (now());

  -- What people look at.
  CREATE VIEW %s.readable_records AS
    SELECT s.id AS session, r.pos, to_timestamp(r.ms / 1000.0) AS at, r.input, r.facts, r.body
    FROM %s.records r JOIN %s.sessions s ON s.key = r.session;

  -- Makes an owner the only writer of a session, or says who is.
  CREATE FUNCTION %s.acquire(p_id text, p_owner text, p_address text, p_lease_ms bigint)
    RETURNS TABLE (held_by text, held_at text, epoch bigint, pos bigint, until_ms bigint) LANGUAGE plpgsql AS $$
  DECLARE
    s %s.sessions;
    l %s.leases;
    t bigint;
  BEGIN
    INSERT INTO %s.sessions AS known (id) VALUES (p_id) ON CONFLICT (id) DO UPDATE SET id = known.id RETURNING * INTO s;
    SELECT * INTO l FROM %s.leases WHERE session = s.key FOR UPDATE;
    t := %s.now_ms();
    IF l.owner <> p_owner AND l.until_ms > t THEN
      RETURN QUERY SELECT l.owner, l.address, NULL::bigint, NULL::bigint, l.until_ms;
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtext('%s.epochs'));
    UPDATE %s.sessions AS known SET epoch = nextval('%s.epochs'), is_owned = true WHERE known.key = s.key
      RETURNING * INTO s;
    INSERT INTO %s.leases AS known (session, owner, address, until_ms) VALUES (s.key, p_owner, p_address, t + p_lease_ms)
      ON CONFLICT (session) DO UPDATE SET owner = p_owner, address = p_address, until_ms = t + p_lease_ms,
        asked_by = CASE WHEN l.owner = p_owner AND l.until_ms > t THEN known.asked_by END;
    RETURN QUERY SELECT NULL::text, NULL::text, s.epoch, s.pos, t + p_lease_ms;
  END $$;

  -- Epochs that come after those of a log written elsewhere.
  CREATE FUNCTION %s.raise_epochs(p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('%s.epochs'));
    IF p_epoch > (SELECT last_value FROM %s.epochs) THEN PERFORM setval('%s.epochs', p_epoch); END IF;
  END $$;
  `,
  `
  -- The root of a child, by name: the children of a tree that is restored come before their root.
  ALTER TABLE %s.sessions ADD COLUMN root text COLLATE "C";
  CREATE INDEX sessions_under ON %s.sessions (root, id) WHERE root IS NOT NULL;
  CREATE INDEX sessions_alone ON %s.sessions (id) WHERE root IS NULL;

  -- As before, but a child is refused: also to a process of the version before, which knows none.
  CREATE OR REPLACE FUNCTION %s.acquire(p_id text, p_owner text, p_address text, p_lease_ms bigint)
    RETURNS TABLE (held_by text, held_at text, epoch bigint, pos bigint, until_ms bigint) LANGUAGE plpgsql AS $$
  DECLARE
    s %s.sessions;
    l %s.leases;
    t bigint;
  BEGIN
    INSERT INTO %s.sessions AS known (id) VALUES (p_id) ON CONFLICT (id) DO UPDATE SET id = known.id RETURNING * INTO s;
    IF s.root IS NOT NULL THEN
      RAISE EXCEPTION 'session % belongs to session %', s.id, s.root USING ERRCODE = 'BTN01', DETAIL = s.root;
    END IF;
    SELECT * INTO l FROM %s.leases WHERE session = s.key FOR UPDATE;
    t := %s.now_ms();
    IF l.owner <> p_owner AND l.until_ms > t THEN
      RETURN QUERY SELECT l.owner, l.address, NULL::bigint, NULL::bigint, l.until_ms;
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtext('%s.epochs'));
    UPDATE %s.sessions AS known SET epoch = nextval('%s.epochs'), is_owned = true WHERE known.key = s.key
      RETURNING * INTO s;
    INSERT INTO %s.leases AS known (session, owner, address, until_ms) VALUES (s.key, p_owner, p_address, t + p_lease_ms)
      ON CONFLICT (session) DO UPDATE SET owner = p_owner, address = p_address, until_ms = t + p_lease_ms,
        asked_by = CASE WHEN l.owner = p_owner AND l.until_ms > t THEN known.asked_by END;
    RETURN QUERY SELECT NULL::text, NULL::text, s.epoch, s.pos, t + p_lease_ms;
  END $$;

  -- Gives a child a new epoch. No row: its root is gone, or has another epoch. A row without an epoch: it is no child of
  -- this root. The rows are locked in the order in which appends lock theirs, and the root is shared with its other
  -- children, which are acquired at the same time.
  CREATE FUNCTION %s.acquire_under(p_id text, p_root text, p_root_epoch bigint)
    RETURNS TABLE (of_root text, pos bigint, epoch bigint, until_ms bigint) LANGUAGE plpgsql AS $$
  DECLARE
    r %s.sessions;
    s %s.sessions;
  BEGIN
    IF p_id COLLATE "C" < p_root COLLATE "C" THEN
      PERFORM FROM %s.sessions AS known WHERE known.id = p_id FOR UPDATE;
    END IF;
    SELECT * INTO r FROM %s.sessions AS known WHERE known.id = p_root FOR SHARE;
    IF r.epoch IS DISTINCT FROM p_root_epoch OR r.root IS NOT NULL THEN RETURN; END IF;
    INSERT INTO %s.sessions AS known (id, root) VALUES (p_id, p_root) ON CONFLICT (id) DO UPDATE SET id = known.id
      RETURNING * INTO s;
    IF s.root <> p_root OR s.root IS NULL AND s.pos >= 0 THEN
      RETURN QUERY SELECT s.root, s.pos, NULL::bigint, NULL::bigint;
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtext('%s.epochs'));
    UPDATE %s.sessions AS known SET root = p_root, epoch = nextval('%s.epochs'), is_owned = false WHERE known.key = s.key
      RETURNING * INTO s;
    DELETE FROM %s.leases WHERE session = s.key;
    RETURN QUERY SELECT s.root, s.pos, s.epoch, (SELECT l.until_ms FROM %s.leases l WHERE l.session = r.key);
  END $$;
  `,
  `
  -- When a host has to look at a session by itself, by the wall clock.
  CREATE TABLE %s.due (
    session bigint PRIMARY KEY REFERENCES %s.sessions ON DELETE CASCADE,
    at_ms bigint NOT NULL
  );
  CREATE INDEX due_at ON %s.due (at_ms);
  `,
  `
  -- What lists show of each session, and its places in the lists. It is written with the records that change it.
  CREATE TABLE %s.entries (
    session bigint PRIMARY KEY REFERENCES %s.sessions ON DELETE CASCADE,
    body text NOT NULL
  );
  CREATE TABLE %s.places (
    list text COLLATE "C" NOT NULL,
    at_ms bigint NOT NULL,
    item integer NOT NULL,
    session bigint NOT NULL REFERENCES %s.sessions ON DELETE CASCADE,
    PRIMARY KEY (list, at_ms, item, session)
  );
  CREATE INDEX places_of ON %s.places (session);
  -- Sessions whose entries miss records.
  CREATE TABLE %s.outdated (session bigint PRIMARY KEY REFERENCES %s.sessions ON DELETE CASCADE);
  -- The position up to which a writer has taken care of the entry. Processes of the version before do not.
  ALTER TABLE %s.sessions ADD COLUMN listed bigint NOT NULL DEFAULT -1;

  CREATE FUNCTION %s.note_outdated() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO %s.outdated VALUES (NEW.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER sessions_outdated AFTER UPDATE ON %s.sessions FOR EACH ROW
    WHEN (NEW.pos <> OLD.pos AND NEW.pos <> NEW.listed AND NEW.root IS NULL) EXECUTE FUNCTION %s.note_outdated();
  INSERT INTO %s.outdated SELECT key FROM %s.sessions WHERE root IS NULL AND pos >= 0;

  -- Replaces an entry. places: [[list, at_ms, item], …].
  CREATE FUNCTION %s.enter(p_key bigint, p_body text, p_places text) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO %s.entries AS known VALUES (p_key, p_body) ON CONFLICT (session) DO UPDATE SET body = p_body;
    DELETE FROM %s.places WHERE session = p_key;
    INSERT INTO %s.places SELECT one->>0, (one->>1)::bigint, (one->>2)::integer, p_key
      FROM json_array_elements(p_places::json) AS one;
    DELETE FROM %s.outdated WHERE session = p_key;
    RETURN p_key;
  END $$;
  `,
  `
  -- What of a session still has to be sent, in lists by time.
  CREATE TABLE %s.outbox (
    session bigint NOT NULL REFERENCES %s.sessions ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    list text COLLATE "C" NOT NULL,
    at_ms bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (session, name)
  ) WITH (fillfactor = 70);
  CREATE INDEX outbox_at ON %s.outbox (list, at_ms);
  `,
]

export const STORE_VERSION = MIGRATIONS.length

/**
 * Migrates the tables of `schema` to this version, or to an older one for a test. Processes that start together do it one
 * after the other.
 */
export async function migrate(client: Connection, schema: string, toVersion = STORE_VERSION): Promise<void> {
  if ((await readVersion(client, schema)) >= toVersion) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`${schema}.migrations`])
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${schema}.migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`,
    )
    for (let version = (await readVersion(client, schema)) + 1; version <= toVersion; version++) {
      await client.query((MIGRATIONS[version - 1] ?? '').replaceAll('%s', schema))
      await client.query(`INSERT INTO ${schema}.migrations (version) VALUES ($1)`, [version])
    }
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {}) // the connection may be lost
    throw cause
  }
}

/** The version of the store's tables; 0 if it has none yet. */
export async function readVersion(client: Connection, schema: string): Promise<number> {
  const { rows } = await client.query<{ known: string | null }>('SELECT to_regclass($1) AS known', [
    `${schema}.migrations`,
  ])
  if (typeof rows[0]?.known !== 'string') return 0
  const found = await client.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM ${schema}.migrations`,
  )
  return found.rows[0]?.version ?? 0
}
