// A version 1 agent that speaks plain lines of JSON and behaves as its first argument says. Logs its requests to the
// file named by its second argument.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [way = 'works', journal = ''] = process.argv.slice(2)
type Message = {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly sessionId?: string; readonly modeId?: string }
  readonly result?: unknown
}

const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = (sessionId: string, what: object): void =>
  send({ method: 'session/update', params: { sessionId, update: what } })
const say = (sessionId: string, text: string): void =>
  update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

if (way === 'stays') {
  // Ends when asked to, but its child process does not.
  process.on('SIGTERM', () => process.exit(0))
  const script = "process.on('SIGTERM', () => {}); process.stdout.write('ready'); setInterval(() => {}, 1000)"
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.once('data', () => appendFileSync(`${journal}.child`, String(child.pid)))
}

let prompting: { readonly id: number; readonly sessionId: string } | undefined
let prompts = 0
let sessions = 0

const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

const MODES =
  way === 'forgets'
    ? {}
    : {
        modes: {
          currentModeId: 'ask',
          availableModes: ['ask', 'plan'].map((mode) => ({ id: mode, name: mode })),
        },
      }

function askPermission(sessionId: string): void {
  const toolCall = {
    toolCallId: 't1',
    title: 'Delete the notes',
    kind: 'delete',
    locations: [{ path: '/work/notes.md' }],
  }
  send({ id: 900, method: 'session/request_permission', params: { sessionId, toolCall, options: OPTIONS } })
}

function prompt(id: number, sessionId: string): void {
  if (way === 'stops-late' && prompts === 1) {
    // The first prompt ends when the second has begun; in a third one's time the second asks for its permission.
    send({ id: prompting?.id, result: { stopReason: 'cancelled' } })
  } else if (way === 'stops-late' && prompts === 2) {
    send({ id, result: { stopReason: 'end_turn' } })
    askPermission(prompting?.sessionId ?? '')
    return
  }
  prompting = { id, sessionId }
  prompts += 1
  const end = (stopReason = 'end_turn'): void => send({ id, result: { stopReason } })
  switch (way) {
    case 'hangs':
    case 'ignores-cancel':
    case 'stops-late':
      say(sessionId, 'I begin.')
      return
    case 'dies':
      say(sessionId, 'I begin.')
      process.exit(3)
      return
    case 'dies-once':
      if (prompts === 1 && !process.env['LOADED']) process.exit(3)
      break
    case 'chatters':
      for (let count = 0; count < 200; count += 1) say(sessionId, 'again ')
      end()
      return
    case 'floods':
      for (let count = 0; count < 201_000; count += 1) say(sessionId, 'again ')
      return
    case 'long-line':
      process.stdout.write(`"${'x'.repeat(17 * 1024 * 1024)}"\n`)
      return
    case 'nonsense':
      process.stdout.write('this is not a message\n')
      say(sessionId, 'Still here.')
      end()
      return
    case 'refuses':
      send({ id, error: { code: -32603, message: 'no \u001b[31mcredits\u001b[0m' } })
      return
    case 'strays':
      send({ id: '\u001b[2Jgone', result: {} })
      send({ id: null, error: { code: 1, message: '\u001b[2Jgone' } })
      send({ id: ['\u001b[2Jgone'] })
      say(sessionId, 'Still here.')
      end()
      return
    case 'malformed':
      for (const part of [null, { type: 'diff', path: 5 }, { type: 'diff', path: 'a', newText: null }])
        update(sessionId, { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Edit', content: [part] })
      update(sessionId, { sessionUpdate: 'plan', entries: [null, { content: 5 }] })
      update(sessionId, { sessionUpdate: 'agent_message_chunk', content: null })
      update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 5 } })
      send({ method: 'session/update', params: null })
      say(sessionId, 'Still here.')
      end()
      return
    case 'lies':
      send({
        id: 900,
        method: 'session/request_permission',
        params: {
          sessionId,
          toolCall: {
            toolCallId: 't1',
            title: `Read notes.md\n(read) /work/notes.md${'\n'.repeat(50)}\u202edelete${'x'.repeat(2000)}`,
            kind: 'delete',
            locations: [{ path: '/work/notes.md\n(read)' }],
          },
          options: OPTIONS.map((option) => ({ ...option, name: `${option.name}\n\u001b[2J` })),
        },
      })
      return
    case 'asks':
      askPermission(sessionId)
      return
  }
  say(sessionId, 'I look. ')
  update(sessionId, { sessionUpdate: 'plan', entries: [{ content: 'Look', priority: 'high', status: 'in_progress' }] })
  const call = { toolCallId: 't1', title: 'Edit notes.md', kind: 'edit' }
  update(sessionId, { sessionUpdate: 'tool_call', ...call, status: 'in_progress' })
  const diff = { type: 'diff', path: '/work/notes.md', oldText: 'a', newText: 'b' }
  update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', content: [diff] })
  say(sessionId, `It was prompt ${prompts}.`)
  end()
}

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(journal, `${line}\n`)
  const { id = 0, method, params, result } = JSON.parse(line) as Message
  const sessionId = params?.sessionId ?? 'session-1'
  if (method === 'initialize') {
    if (way === 'silent') return
    const loadSession = way !== 'forgets'
    send({ id, result: { protocolVersion: way === 'old' ? 0 : 1, agentCapabilities: { loadSession } } })
  } else if (method === 'session/new') {
    sessions += 1
    const sessionId =
      way === 'many' || way === 'stops-late' ? `session-${process.pid}-${sessions}` : `session-${process.pid}`
    send({ id, result: { sessionId, ...MODES } })
  } else if (method === 'session/load') {
    say(sessionId, 'Told before.')
    send({ id, result: MODES })
  } else if (method === 'session/set_mode') send({ id, result: {} })
  else if (method === 'session/prompt') prompt(id, sessionId)
  else if (method === 'session/cancel' && way === 'hangs' && prompting)
    send({ id: prompting.id, result: { stopReason: 'cancelled' } })
  else if (id === 900 && prompting) {
    const { outcome } = result as { readonly outcome: { readonly outcome: string; readonly optionId?: string } }
    say(prompting.sessionId, `Told: ${outcome.optionId ?? outcome.outcome}.`)
    send({ id: prompting.id, result: { stopReason: 'end_turn' } })
  }
})
