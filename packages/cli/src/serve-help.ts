// The help text of `baton serve`.
import { MCP_HELP } from './mcp-option.ts'
import { MODEL_HELP } from './model-options.ts'
import { PERMISSION_HELP } from './permission-options.ts'

export const SERVE_HELP = `baton serve: chats over HTTP at /api (what useChat of the AI SDK asks for), and a WebSocket at /ws for apps of
protocol versions 1 and 2

Options:
${MODEL_HELP}
${MCP_HELP}
${PERMISSION_HELP}
  --host NAME    address to listen on (127.0.0.1)
  --port NUMBER  port to listen on; 0 takes a free one (PORT, else 8080)
  --store URL    where sessions are kept: sqlite:FILE, memory:, or postgres://USER:PASSWORD@HOST/DATABASE, which several
                 servers may share (BATON_STORE, which other users of the machine cannot read, else a file for
                 this folder in the user's data folder; the server prints its name)
  --keep-days NUMBER
                 removes sessions that nobody has used for so many days (kept for ever)
  --allow-origin ORIGIN
                 pages that may connect, may be repeated, * for all (pages of this machine; with another --host
                 than this machine none)
  --allow-model NAME
                 a model that apps may choose, may be repeated; "any" for all of the agent (none)
  --allow-temperature, --allow-output-tokens NUMBER
                 apps may set the temperature, and at most so many tokens of an answer (they may not)
  --acp          editors may connect at /acp, by the Agent Client Protocol; --acp-v2 also by the draft of its version 2
  --json         one line of JSON when the server is ready: {"event":"listening","url":"ws://..."}
  --dev          start anew when the agent's file or one that it imports changes; running turns end first

Who may connect (another --host than this machine needs a token):
  --token TEXT   what each connection must show, by "Authorization: Bearer" or ?token= (better BATON_TOKEN, which
                 other users of the machine cannot read)
  --jwt-issuer URL, --jwt-audience NAME
                 believe JWTs of this issuer for this service (its aud; several with commas): each principal has its
                 own sessions. --token then opens too, and alone for /metrics (BATON_JWT_ISSUER, BATON_JWT_AUDIENCE)
  --jwt-jwks URL the issuer's keys (BATON_JWT_JWKS, else what its /.well-known/openid-configuration says)
  --jwt-claim NAME
                 the claim that names the principal (BATON_JWT_CLAIM, else sub)
  --insecure     let everybody in without a token, also with another --host
  --tls-cert FILE, --tls-key FILE
                 speak wss by this certificate and key, in PEM
  --public-host NAME
                 the name that a proxy gives this server, as chat.example; may be repeated. Its pages may connect, and a
                 server without a token may be asked under it
  --trust-proxy [NUMBER]
                 believe X-Forwarded-For of so many proxies in front (1)

Several servers over one PostgreSQL store:
  --peer-address URL
                 where the others reach this server: ws://10.0.0.5:8080. What comes for a session that another one
                 holds is passed on to it; BATON_PEER_SECRET must be the same for all of them, 16 characters or more

Sessions as workflows of a Temporal service, whose workers "baton worker" starts:
  --temporal HOST:PORT, --namespace NAME, --task-queue NAME, --redis URL
                 as "baton worker" has them; the store must be PostgreSQL

How much:
  --rate-limit NUMBER
                 frames a minute of a session, and of an address (SESSION_RATE_LIMIT_PER_MIN, else 300)
  --limit NAME=NUMBER
                 may be repeated: eventBytes (65536), resultBytes (262144), socketBytes (1048576), outgoingBytes
                 (4194304), incomingFrames (1000), incomingChars (16777216), partialMs (50), startMs (30000),
                 heldMs (15000), heartbeatMs (30000), idleMs (600000), connections (1000), addressConnections (100),
                 principalConnections (100), addressSessionsPerMinute (120), addressBytesPerMinute (33554432),
                 addressTurns (50), principalTurns (50), sessionFramesPerMinute (300),
                 sessionTranscriptsPerMinute (30), addressFramesPerMinute (300); of chats over HTTP http.bodyBytes
                 (33554432), http.waitingBytes (4194304), http.keepAliveMs (15000), http.replayMs (300000),
                 http.streams (1000), http.principalStreams (100), http.addressStreams (100), http.principalTurns
                 (50), http.addressTurns (50), http.principalRequestsPerMinute (600),
                 http.addressRequestsPerMinute (1200), http.principalBytesPerMinute (134217728),
                 http.addressBytesPerMinute (134217728)
  --drain-ms NUMBER
                 milliseconds that running turns get to end after a signal (10000); a second signal ends at once

Log, on the standard error:
  --log-format NAME  json or pretty (pretty on a terminal, else json)
  --log-level NAME   info, warn or silent (info)

Variables: PORT, BATON_TOKEN, BATON_JWT_…, BATON_STORE, BATON_PEER_SECRET, MODEL_PROVIDER, each provider's (see "baton models"),
BATON_TOOLS (probe: finds out whether a server of your own takes tools; native: it does; prompted: it does not),
BATON_SERVERS (servers of your own by name, "gpu-1=http://gpu-1:8000/v1 …"; their models are "gpu-1/MODEL"),
BATON_MODEL_TIMEOUT_MS (milliseconds that a model may say nothing; 30000, 180000 for servers of your own),
ANTHROPIC_MAX_TOKENS, MAX_TURNS (most exchanges that the model sees), MAX_EVENT_BYTES (bytes of a frame, 65536),
SESSION_RATE_LIMIT_PER_MIN. An option wins over its variable.

Examples:
  baton serve
  baton serve --agent examples/voice-conductor/agent.ts --model anthropic/claude-haiku-4-5
  baton serve --port 0 --json
`
