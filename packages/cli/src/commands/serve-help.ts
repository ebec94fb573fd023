// The help text of `baton serve`.
import { MCP_HELP } from '../words/mcp-option.ts'
import { MODEL_HELP } from '../words/model-options.ts'
import { PERMISSION_HELP } from '../words/permission-options.ts'

export const SERVE_HELP = `baton serve: serve chats over HTTP at /api (for useChat of the AI SDK), and apps of protocol versions 1
and 2 over a WebSocket at /ws

Options:
${MODEL_HELP}
${MCP_HELP}
${PERMISSION_HELP}
  --host NAME    address to listen on (default: 127.0.0.1)
  --port NUMBER  port to listen on; 0 chooses a free one (default: PORT, then 8080)
  --store URL    where to keep sessions: sqlite:FILE, memory:, or postgres://USER:PASSWORD@HOST/DATABASE, which several
                 servers can share (default: BATON_STORE, which other users of the machine cannot read, then a file for
                 this folder in the user's data folder; the server prints its path)
  --keep-days NUMBER
                 delete sessions that were not used for this many days (default: keep them)
  --allow-origin ORIGIN
                 origin of pages that may connect, or * for all; repeatable (default: pages of this machine; none if
                 --host is not this machine)
  --allow-model NAME
                 a model that apps may choose, or "any" for all of the agent's; repeatable (default: none)
  --allow-temperature, --allow-output-tokens NUMBER
                 let apps set the temperature, and up to this many output tokens (default: neither)
  --acp          let editors connect at /acp, over the Agent Client Protocol; --acp-v2 adds the draft of version 2
  --json         print one line of JSON when the server is ready: {"event":"listening","url":"ws://..."}
  --dev          restart when the agent's file or a file it imports changes; running turns end first

Access (a token is required if --host is not this machine):
  --token TEXT   token required from each connection, as "Authorization: Bearer" or ?token= (BATON_TOKEN is safer: other
                 users of the machine cannot read it)
  --jwt-issuer URL, --jwt-audience NAME
                 accept this issuer's JWTs for this service (the aud claim; separate several with commas). Each
                 principal has separate sessions. --token still works, and is required for /metrics (default:
                 BATON_JWT_ISSUER, BATON_JWT_AUDIENCE)
  --jwt-jwks URL address of the issuer's keys (default: BATON_JWT_JWKS, then the issuer's
                 /.well-known/openid-configuration)
  --jwt-claim NAME
                 the claim with the principal's name (default: BATON_JWT_CLAIM, then sub)
  --insecure     let everyone in without a token, even if --host is not this machine
  --tls-cert FILE, --tls-key FILE
                 certificate and key in PEM, to serve wss
  --public-host NAME
                 a name that a proxy uses for this server, such as chat.example; repeatable. Its pages may connect, and
                 a server without a token accepts requests for it
  --trust-proxy [NUMBER]
                 trust X-Forwarded-For of this many proxies in front (default: 1)

Operators and senders; each has a name and a file with its secret:
  --console NAME=FILE
                 serve the console at /console for this operator, whose token of at least 16 characters is in the file;
                 repeatable. The log names the operator who decides or changes something
  --console-powers NAME=LIST
                 see (default), decide, act, export, remove, separated by commas, or all
  --webhook NAME=FILE
                 accept events at /api/sessions/SESSION/events that this sender has signed in the form of Standard
                 Webhooks, for sessions of every owner; its secret whsec_… is in the file, or several, one in a line;
                 repeatable

Several servers over one PostgreSQL store:
  --peer-address URL
                 address where the other servers reach this one, such as ws://10.0.0.5:8080. Requests for a session that
                 another server holds are passed on to it. BATON_PEER_SECRET must be the same on all servers, at least
                 16 characters

Sessions as Temporal workflows, run by workers that "baton worker" starts:
  --temporal HOST:PORT, --namespace NAME, --task-queue NAME, --redis URL
                 as for "baton worker"; the store must be PostgreSQL

Limits:
  --rate-limit NUMBER
                 frames per minute of a session, and of an address (default: SESSION_RATE_LIMIT_PER_MIN, then 300)
  --limit NAME=NUMBER
                 repeatable: eventBytes (65536), resultBytes (262144), socketBytes (1048576), outgoingBytes
                 (4194304), incomingFrames (1000), incomingChars (16777216), partialMs (50), startMs (30000),
                 heldMs (15000), heartbeatMs (30000), idleMs (600000), connections (1000), addressConnections (100),
                 principalConnections (100), addressSessionsPerMinute (120), addressBytesPerMinute (33554432),
                 addressTurns (50), principalTurns (50), sessionFramesPerMinute (300),
                 sessionTranscriptsPerMinute (30), addressFramesPerMinute (300); for chats over HTTP: http.bodyBytes
                 (33554432), http.waitingBytes (4194304), http.keepAliveMs (15000), http.replayMs (300000),
                 http.streams (1000), http.principalStreams (100), http.addressStreams (100), http.principalTurns
                 (50), http.addressTurns (50), http.principalRequestsPerMinute (600),
                 http.addressRequestsPerMinute (1200), http.principalBytesPerMinute (134217728),
                 http.addressBytesPerMinute (134217728)
  --drain-ms NUMBER
                 milliseconds for running turns to end after a signal (default: 10000); a second signal exits at once

Log, on standard error:
  --log-format NAME  json or pretty (default: pretty on a terminal, otherwise json)
  --log-level NAME   info, warn or silent (default: info)

Variables: PORT, BATON_TOKEN, BATON_JWT_…, BATON_STORE, BATON_PEER_SECRET, MODEL_PROVIDER, those of providers (see
"baton models"), BATON_TOOLS (whether your own server supports tools; probe: find out, native: yes, prompted: no),
BATON_SERVERS (your own servers by name, "gpu-1=http://gpu-1:8000/v1 …"; their models are "gpu-1/MODEL"),
BATON_MODEL_TIMEOUT_MS (milliseconds a model may be silent; 30000, or 180000 for your own servers),
ANTHROPIC_MAX_TOKENS, MAX_TURNS (maximum exchanges that the model sees), MAX_EVENT_BYTES (bytes of a frame, 65536),
SESSION_RATE_LIMIT_PER_MIN. Options override variables.

Examples:
  baton serve
  baton serve --agent examples/voice-conductor/agent.ts --model anthropic/claude-haiku-4-5
  baton serve --port 0 --json
`
