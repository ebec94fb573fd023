// Bounds and defaults on pages match the code. The values were copied from the pages; what a bound does is tested with
// smaller values (scripts/promises.json lists both tests).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { splitSentences } from './page-sentences.ts'
import { REPOSITORY } from './source-files.ts'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * The page in `docs`, its wording, the file below `packages` that defines the bound, its name there, and the value on
 * the page.
 */
const BOUNDS: readonly (readonly [page: string, words: string, file: string, name: string, value: number])[] = [
  ['chat', 'an answer that ended in the last 5 minutes', 'server/src/http/handler-parts', 'replayMs', 5 * MINUTE],
  ['chat', '(at most 50)', 'server/src/http/chat-request', 'EARLIER_MAX', 50],
  ['chat', 'One request may have 1 MiB (`socketBytes`)', 'server/src/websocket/limits', 'socketBytes', MIB],
  ['chat', 'joined for 16 ms', 'server/src/http/event-response', 'JOIN_MS', 16],
  ['chat', 'for each principal for a day', 'server/src/http/repeated-requests', 'KEPT_MS', DAY],
  ['chat', 'at most 10,000 of them', 'server/src/http/repeated-requests', 'ENTRIES_MAX', 10_000],
  ['chat', '16 MiB of answers', 'server/src/http/repeated-requests', 'BYTES_MAX', 16 * MIB],
  ['chat', '| `bodyBytes` | 32 MiB |', 'server/src/http/handler-parts', 'bodyBytes', 32 * MIB],
  ['chat', '| `waitingBytes` | 4 MiB |', 'server/src/http/handler-parts', 'waitingBytes', 4 * MIB],
  ['chat', 'reads nothing for a minute', 'server/src/http/event-response', 'STALLED_MS', MINUTE],
  ['chat', '`addressBytesPerMinute` | 128 MiB |', 'server/src/http/chat-quotas', 'principalBytesPerMinute', 128 * MIB],
  ['chat', '`addressBytesPerMinute` | 128 MiB |', 'server/src/http/chat-quotas', 'addressBytesPerMinute', 128 * MIB],
  ['cli', 'joins the question, up to 4 MiB', 'cli/src/words/joined-input', 'BYTES_MAX', 4 * MIB],
  ['cli', 'files of up to 1 GiB', 'cli/src/commands/sessions', 'IMPORT_BYTES_MAX', GIB],
  ['cli', 'lines of up to 128 MiB', 'cli/src/words/read-lines', 'LINE_BYTES_MAX', 128 * MIB],
  ['cli', '`--timeout-ms` (5000)', 'cli/src/commands/doctor', 'TIMEOUT_MS', 5000],
  ['cli', 'busy for 12 seconds', 'cli/src/places/embedded-host', 'HELD_MS', 12 * SECOND],
  ['client-models', '`waitMs` (30 s by default)', 'models/src/client/index', 'WAIT_MS', 30 * SECOND],
  ['client-tools', 'a lease of 30 seconds (`leaseMs`)', 'runtime/src/session/session-client', 'LEASE_MS', 30 * SECOND],
  ['coding-sessions', 'lines of more than 8 MiB', 'kits/src/coding-sessions/session-lines', 'LINE_BYTES_MAX', 8 * MIB],
  ['coding-sessions', '| time of a call | 20 s;', 'kits/src/coding-sessions/session-kit', 'timeMs', 20 * SECOND],
  ['coding-sessions', '`session.analyze` the newest 20', 'kits/src/coding-sessions/analyze-sessions', 'NEWEST', 20],
  ['coding-sessions', 'up to 50 by id', 'kits/src/coding-sessions/session-kit', 'NAMED_MAX', 50],
  ['coding-sessions', '2,000 characters each', 'kits/src/coding-sessions/read-session', 'TEXT_CHARS', 2000],
  ['coding-sessions', '48,000 together', 'kits/src/coding-sessions/read-session', 'TOTAL_CHARS', 48_000],
  ['content', 'ended after 10 seconds', 'kits/src/shared/pages/html-thread', 'DEADLINE_MS', 10 * SECOND],
  ['content', 'or 256 MiB', 'kits/src/shared/pages/html-thread', 'MEMORY_MIB', 256],
  ['content', 'A page has 5 MiB at most', 'tools/src/shared/pages/fetch-document', 'MAX_BYTES', 5 * MIB],
  ['content', 'more than 30,000 elements', 'kits/src/shared/pages/clean-tree', 'ELEMENTS', 30_000],
  ['content', 'of 20,000 characters; `next`', 'kits/src/content/content-tool', 'TEXT_CHARS', 20_000],
  ['editors', '| one message | 16 MiB;', 'server/src/acp/options', 'messageBytes', 16 * MIB],
  ['editors', 'the editor shows | 262,144 characters', 'server/src/acp/options', 'resultChars', 262_144],
  ['editors', 'the editor reads or writes | 30 seconds', 'server/src/acp/options', 'fileMs', 30 * SECOND],
  ['editors', 'for 10 seconds at most', 'server/src/acp/stdio', 'LAST_ANSWERS_MS', 10 * SECOND],
  ['effect', '`closeMs`, 10 seconds by default', 'tools/src/effect/from-effect', 'CLOSE_MS', 10 * SECOND],
  ['github', '| 20,000 characters, then', 'kits/src/github/github-kit', 'TEXT_CHARS', 20_000],
  ['github', 'pages of 32,000 characters', 'kits/src/github/file-tools', 'PAGE_CHARS', 32_000],
  ['github', '8,000 characters for each file', 'kits/src/github/pull-tools', 'PATCH_CHARS', 8000],
  ['github', '40,000 together', 'kits/src/github/pull-tools', 'PATCHES_CHARS', 40_000],
  ['chat', 'the last 256 ids of a session', 'core/src/machine/spec', 'remembered', 256],
  ['protocol-2', 'the last 256 ids of a session', 'core/src/machine/spec', 'remembered', 256],
  ['protocol-2', '(the last 256 of a session)', 'core/src/machine/spec', 'remembered', 256],
  ['mcp', 'its first 2,000 characters', 'mcp/src/client/lenient-calls', 'SAID_CHARS', 2000],
  ['mcp-server', 'at most 50 notes a second', 'mcp/src/server/progress', 'PAUSE_MS', SECOND / 50],
  ['mcp-server', '`timeoutMs` over 60 s', 'mcp/src/server/options', 'taskFromMs', MINUTE],
  ['mcp-server', 'up to 524,288 characters', 'mcp/src/server/options', 'resultChars', 524_288],
  ['mcp-server', 'its deadline, 10 minutes by default', 'runtime/src/work/tool-questions', 'ANSWER_MS', 10 * MINUTE],
  ['mcp-server', 'an idle client | 30 minutes', 'mcp/src/server/options', 'idleMs', 30 * MINUTE],
  ['mcp-server', 'one message of a client | 4 MiB', 'mcp/src/server/options', 'messageBytes', 4 * MIB],
  ['mcp', 'up to 30 seconds (`limits.connectMs`)', 'mcp/src/client/index', 'connectMs', 30 * SECOND],
  ['mcp', 'at most 20 a second for each call', 'mcp/src/client/connection', 'PROGRESS_MS', SECOND / 20],
  ['mcp', 'over 32 MiB (`limits.messageBytes`)', 'mcp/src/client/index', 'messageBytes', 32 * MIB],
  ['mcp', 'more than 131,072 characters', 'mcp/src/client/pins', 'DEFINITION_CHARS', 131_072],
  ['mcp', 'up to four times `limits.tools`', 'mcp/src/client/mcp-server', 'PINS_PER_TOOL', 4],
  ['media', 'holds at most 200', 'core/src/agent/session-api', 'ANSWER_SOURCES_MAX', 200],
  ['media', '| `anthropic` | 32 MB |', 'models/src/anthropic/index', 'REQUEST_BYTES_MAX', 32_000_000],
  ['media', '`azure` | 50 MB |', 'models/src/openai-chat/quirks', 'requestBytesMax', 50_000_000],
  ['media', '| `gemini`, Vertex AI | 20 MiB |', 'models/src/gemini/index', 'REQUEST_BYTES_MAX', 20 * MIB],
  ['media', '| `bedrock` | 20 MB |', 'models/src/bedrock/index', 'REQUEST_BYTES_MAX', 20_000_000],
  ['media', '| `groq` | 4 MB |', 'models/src/presets', 'requestBytesMax', 4_000_000],
  ['models', 'at most 10,000 parts', 'core/src/agent/decode-answer', 'parts', 10_000],
  ['models', '8,388,608 characters', 'core/src/machine/spec', 'answerChars', 8_388_608],
  ['models', '1,000,000 streamed pieces', 'core/src/agent/decode-answer', 'pieces', 1_000_000],
  ['models', 'is a failure after 30 seconds', 'models/src/http-model', 'TIMEOUT_MS', 30 * SECOND],
  ['models', 'after 3 minutes on local servers', 'models/src/presets', 'LOADING_MS', 3 * MINUTE],
  ['models', 'where Gemini is asked to think', 'models/src/gemini/index', 'THINKING_TIMEOUT_MS', 3 * MINUTE],
  ['models', 'reads up to 1 MiB of a call', 'models/src/prompted/answer-parser', 'CALL_CHARS', MIB],
  ['models', 'is silent for 180 s', 'models/src/prompted/with-tool-probe', 'DEADLINE_MS', 180 * SECOND],
  ['models', 'at most 16 of them', 'models/src/gguf/index', 'WAITING_MAX', 16],
  ['models', 'at most 8,192 tokens', 'models/src/gguf/index', 'CONTEXT_TOKENS', 8192],
  ['observability', 'each at most 16,384 characters', 'host/src/telemetry/span-data', 'CONTENT_CHARS', 16_384],
  ['openapi-tools', '30 s and 10 MiB by default', 'tools/src/openapi/from-openapi', 'timeoutMs', 30 * SECOND],
  ['openapi-tools', '30 s and 10 MiB by default', 'tools/src/openapi/from-openapi', 'maxBytes', 10 * MIB],
  ['other-agents', 'four times a second at most', 'kits/src/acp-agent/acp-agent', 'PROGRESS_MS', SECOND / 4],
  ['other-agents', 'it has 5 seconds', 'kits/src/acp-agent/acp-agent', 'CANCEL_MS', 5 * SECOND],
  ['other-agents', 'sends lines over 16 MiB', 'kits/src/acp-agent/agent-process', 'LINE_BYTES', 16 * MIB],
  ['other-agents', 'first request in 30 seconds', 'kits/src/acp-agent/agent-process', 'START_MS', 30 * SECOND],
  ['other-agents', 'may take 30 minutes', 'kits/src/acp-agent/acp-agent', 'TIMEOUT_MS', 30 * MINUTE],
  ['protocol-2', '5 s to 1 h, 60 s by default', 'server/src/websocket/v2-device', 'least', 5 * SECOND],
  ['protocol-2', '5 s to 1 h, 60 s by default', 'server/src/websocket/v2-device', 'most', HOUR],
  ['protocol-2', '5 s to 1 h, 60 s by default', 'server/src/websocket/v2-device', 'usual', MINUTE],
  ['protocol-2', 'at most 1,000 in a frame', 'server/src/websocket/v2-models', 'PIECES_MAX', 1000],
  ['protocol-2', 'after at most 300 characters', 'runtime/src/speech/sentences', 'SENTENCE_CHARS', 300],
  ['protocol-2', 'up to about 1,000 characters', 'runtime/src/speech/sentences', 'WHOLE_LINE_CHARS', 1000],
  ['protocol-2', 'none for 10 minutes', 'server/src/websocket/limits', 'idleMs', 10 * MINUTE],
  ['protocol-2', '(1 MiB)', 'server/src/websocket/limits', 'socketBytes', MIB],
  ['protocol', '`session.start`, within 30 s', 'server/src/websocket/limits', 'startMs', 30 * SECOND],
  ['protocol', 'WebSocket ping within 30 s', 'server/src/websocket/limits', 'heartbeatMs', 30 * SECOND],
  ['protocol', 'the first 100,000 characters of the answer', 'runtime/src/speech/speech-text', 'SPOKEN_CHARS', 100_000],
  ['protocol', 'if you are back within 30 s', 'server/src/websocket/v1-projection', 'SPEAKABLE_MS', 30 * SECOND],
  ['serving', '| 65536 (64 KiB) |', 'server/src/websocket/limits', 'eventBytes', 64 * KIB],
  ['serving', '| 262144 (256 KiB) |', 'server/src/websocket/limits', 'resultBytes', 256 * KIB],
  ['serving', '| 1048576 (1 MiB) |', 'server/src/websocket/limits', 'socketBytes', MIB],
  ['protocol', '100 inputs, or 256 KiB of text', 'core/src/machine/spec', 'queueInputs', 100],
  ['protocol', '100 inputs, or 256 KiB of text', 'core/src/machine/spec', 'queueChars', 256 * KIB],
  ['serving', '| `sessionFramesPerMinute` | 300 |', 'server/src/websocket/limits', 'sessionFramesPerMinute', 300],
  [
    'serving',
    '| `sessionTranscriptsPerMinute` | 30 |',
    'server/src/websocket/limits',
    'sessionTranscriptsPerMinute',
    30,
  ],
  ['serving', '`principalConnections` | 100 |', 'server/src/websocket/limits', 'addressConnections', 100],
  ['serving', '`principalTurns` | 50 |', 'server/src/websocket/limits', 'addressTurns', 50],
  ['serving', '| `addressSessionsPerMinute` | 120 |', 'server/src/websocket/limits', 'addressSessionsPerMinute', 120],
  ['serving', '| 33554432 (32 MiB) |', 'server/src/websocket/limits', 'addressBytesPerMinute', 32 * MIB],
  ['serving', '| 4194304 (4 MiB) |', 'server/src/websocket/limits', 'outgoingBytes', 4 * MIB],
  ['providers', '2 seconds after its reason', 'models/src/transport/whole-answer', 'QUIET_MS', 2 * SECOND],
  [
    'providers',
    '10 if it continued after an earlier reason',
    'models/src/transport/whole-answer',
    'DOUBTFUL_QUIET_MS',
    10 * SECOND,
  ],
  ['providers', 'closed a second later', 'models/src/transport/whole-answer', 'LINGER_MS', SECOND],
  ['providers', '30 minutes by default', 'models/src/http-model', 'KEEP_ALIVE_TIMEOUT_MS', 30 * MINUTE],
  ['persistence', 'At most 64 MiB pass', 'host/src/stores/shared/lines', 'LINE_BYTES_MAX', 64 * MIB],
  ['persistence', 'for 60 seconds (`lingerMs`', 'host/src/local/host-options', 'LINGER_MS', MINUTE],
  ['persistence', 'at most an hour', 'host/src/local/host-options', 'LINGER_MS_MAX', HOUR],
  ['persistence', 'At most 1,000 sessions linger', 'host/src/local/open-sessions', 'SESSIONS_MAX', 1000],
  ['persistence', 'and 64 MiB of them', 'host/src/local/open-sessions', 'BYTES_MAX', 64 * MIB],
  ['persistence', 'The host counts 16 KiB', 'host/src/local/local-session', 'session', 16 * KIB],
  ['persistence', '1 KiB for each message', 'host/src/local/local-session', 'entry', KIB],
  ['persistence', '2 bytes for each character', 'host/src/local/local-session', 'char', 2],
  ['reliability', 'the clock may be 7 days ahead', 'host/src/local/retention', 'PATIENCE_MS', 7 * DAY],
  ['reliability', 'to their store every hour', 'host/src/local/retention', 'LOOK_MS', HOUR],
  ['reliability', 'a lease of 10 seconds', 'host/src/stores/lease-book', 'LEASE_MS', 10 * SECOND],
  ['reliability', 'a lease of 10 seconds', 'host/src/stores/postgres/postgres-store', 'LEASE_MS', 10 * SECOND],
  ['reliability', 'four times in those 10 seconds', 'host/src/local/session-leases', 'LEASE_TICKS', 4],
  [
    'reliability',
    'waits up to 5 seconds for those that live',
    'host/src/stores/shared/returning',
    'RETURN_MS',
    5 * SECOND,
  ],
  ['reliability', 'a second after a commit', 'host/src/stores/sqlite/checkpoints', 'AFTER_MS', SECOND],
  ['reliability', 'beyond 32 MiB (`logBytes`)', 'host/src/stores/sqlite/sqlite-store', 'LOG_BYTES', 32 * MIB],
  ['reliability', 'beyond 1 GiB the store', 'host/src/stores/sqlite/store-health', 'LOG_BYTES_MAX', GIB],
  ['reliability', 'waits up to 30 seconds for writes', 'host/src/local/store-in-time', 'STORE_ACT_MS', 30 * SECOND],
  ['security', 'follows at most 5', 'tools/src/guard/guarded-fetch', 'maxRedirects', 5],
  ['security', 'after decompression (10 MiB)', 'tools/src/guard/guarded-fetch', 'maxBytes', 10 * MIB],
  ['security', 'the headers (16 KiB)', 'tools/src/guard/guarded-fetch', 'maxHeaderBytes', 16 * KIB],
  ['security', 'with redirects (30 s)', 'tools/src/guard/guarded-fetch', 'timeoutMs', 30 * SECOND],
  ['serving', 'Keys are fetched again after 10 minutes', 'server/src/auth/verify-tokens', 'FRESH_MS', 10 * MINUTE],
  ['serving', 'at most every 30 seconds', 'server/src/auth/verify-tokens', 'PAUSE_MS', 30 * SECOND],
  ['serving', 'pings each one every 30 s', 'server/src/websocket/limits', 'heartbeatMs', 30 * SECOND],
  ['serving', 'After at most 8 seconds', 'server/src/websocket/connect-to-peer', 'PEER_LIVES_MS', 4 * SECOND],
  ['serving', '| `idleMs` | 600000 |', 'server/src/websocket/limits', 'idleMs', 600_000],
  ['serving', '| `heartbeatMs` | 30000 |', 'server/src/websocket/limits', 'heartbeatMs', 30_000],
  ['serving', 'up to 10,000 sessions and addresses', 'server/src/shared/rate-limit', 'KEYS_MAX', 10_000],
  ['serving', 'beyond 1 GiB therefore', 'host/src/stores/sqlite/store-health', 'LOG_BYTES_MAX', GIB],
  ['serving', 'at most 60 of each a minute', 'server/src/shared/rate-limit', 'LINES_PER_MINUTE', 60],
  ['structured-output', 'may have 32,768 characters', 'core/src/machine/spec', 'outputChars', 32_768],
  ['temporal', 'payloads over 128 KiB', 'temporal/src/data-converter', 'INLINE_BYTES', 128 * KIB],
  ['temporal', 'cut to 200 characters', 'temporal/src/workflow/session-run', 'CHARS_MAX', 200],
  ['temporal', '7 days for a tool', 'temporal/src/worker/decide', 'TOOL_MS', 7 * DAY],
  ['temporal', '`heartbeatMs` | 10 s |', 'temporal/src/worker/decide', 'HEARTBEAT_MS', 10 * SECOND],
  ['temporal', '(`--drain-ms`) | 10 s |', 'temporal/src/worker/create-worker', 'DRAIN_MS', 10 * SECOND],
  ['temporal', '`clientLeaseMs` | 90 s |', 'temporal/src/host/create-gateway', 'CLIENT_LEASE_MS', 90 * SECOND],
  ['vision', 'of up to 5 MiB (`maxBytes`)', 'kits/src/vision/image-tool', 'MAX_BYTES', 5 * MIB],
  ['voice-web', 'nothing follows for 2 s (`confirmMs`)', 'client/src/voice/voice', 'CONFIRM_MS', 2 * SECOND],
  ['voice-web', 'at most 2,147,483,647', 'client/src/voice/voice', 'TIMER_MS', 2_147_483_647],
  ['voice-web', 'pieces of up to 120 characters', 'client/src/voice/browser-speaker', 'NETWORK_CHARS_MAX', 120],
  ['voice-web', 'waits for 50 ms', 'client/src/voice/browser-speaker', 'AFTER_CANCEL_MS', 50],
  ['voice-web', 'three times its estimated time', 'client/src/voice/playback', 'ESTIMATES_MAX', 3],
  ['voice-web', 'plus 5 s', 'client/src/voice/playback', 'MORE_MS', 5 * SECOND],
  ['workspace-explorer', 'in 10 steps at most', 'kits/src/explorer/explorer', 'MAX_STEPS', 10],
  ['workspace-explorer', 'two more steps to correct it', 'kits/src/explorer/explorer', 'CORRECTIONS', 2],
  ['workspace-tools', 'Nothing deeper than 64 folders', 'tools/src/workspace/workspace', 'LEVELS_MAX', 64],
  ['workspace-tools', 'in the first 8,000 bytes', 'tools/src/workspace/text-bytes', 'SNIFFED_BYTES', 8000],
  ['workspace-tools', 'for up to 500 repositories', 'tools/src/workspace/git-guards', 'REPOSITORIES_MAX', 500],
  ['workspace-tools', '`writtenBytesMax` (1 MiB)', 'tools/src/workspace/workspace-limits', 'writtenBytesMax', MIB],
  ['workspace-tools', '(`timeoutMs`, 2 minutes)', 'tools/src/workspace/shell-tool', 'TIMEOUT_MS', 2 * MINUTE],
  ['workspace-tools', 'SIGKILL two seconds later', 'tools/src/workspace/shell-tool', 'TERM_MS', 2 * SECOND],
  ['workspace-tools', '32 KiB of the output', 'tools/src/workspace/workspace-limits', 'shellOutputBytesMax', 32 * KIB],
  ['workspace-tools', 'up to 25 million characters', 'tools/src/workspace/line-search', 'LINE_STEPS_MAX', 25_000_000],
  ['workspace-tools', '(`timeMs`, 10 s)', 'tools/src/workspace/workspace-limits', 'timeMs', 10 * SECOND],
  [
    'workspace-tools',
    '(`walkedEntriesMax`, 50,000)',
    'tools/src/workspace/workspace-limits',
    'walkedEntriesMax',
    50_000,
  ],
  ['workspace-tools', 'the first 64 MiB of a file', 'tools/src/workspace/workspace-limits', 'scanBytesMax', 64 * MIB],
  ['writing-tools', 'Up to 16 tools of a session', 'core/src/machine/spec', 'detached', 16],
  ['writing-tools', '2 s and so on up to 10 s', 'runtime/src/work/tool-retry', 'maxMs', 10 * SECOND],
  ['writing-tools', 'The waits are 500 ms', 'runtime/src/work/tool-retry', 'baseMs', 500],
]

test.each(BOUNDS)('docs/%s.md says "%s", and that holds: %s, %s', (page, words, ...bound) => {
  const [file, name, value] = bound
  const sentences = splitSentences(readFileSync(join(REPOSITORY, 'docs', `${page}.md`), 'utf8'))
  expect(sentences.filter((sentence) => sentence.includes(words)).length).toBeGreaterThan(0)
  expect(readBound(file, name)).toBe(value)
})

/** The number that the file sets for the constant, or first for the field. */
function readBound(file: string, name: string): number {
  const text = readFileSync(join(REPOSITORY, 'packages', `${file}.ts`), 'utf8')
  const written = new RegExp(`\\b${name}(?:: | = )([\\w* ]*\\d[\\w* ]*|\\d+)`).exec(text)?.[1] ?? ''
  return written.split('*').reduce((product, part) => product * readFactor(text, part.trim()), 1)
}

function readFactor(text: string, part: string): number {
  if (/^\d[\d_]*$/.test(part)) return Number(part.replaceAll('_', ''))
  const constant = new RegExp(`const ${part} = ([\\d_* ]+)`).exec(text)?.[1] ?? 'none'
  return constant.split('*').reduce((product, factor) => product * Number(factor.trim().replaceAll('_', '')), 1)
}
