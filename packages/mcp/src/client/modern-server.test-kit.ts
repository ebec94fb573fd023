// An MCP server of 2026-07-28 on standard input and output: tools that ask by `input_required`, and tools that run as
// tasks. Tests start it as a process. Its second argument is a file that gets one line per action.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

type Message = { readonly id?: number | string; readonly method?: string; readonly params?: Params }
interface Params {
  readonly name?: string
  readonly taskId?: string
  readonly requestState?: string
  readonly inputResponses?: Readonly<Record<string, { readonly action: string; readonly content?: object }>>
}

const [, , , logFile] = process.argv
const note = (line: string): void => (logFile === undefined ? undefined : appendFileSync(logFile, `${line}\n`))
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const complete = (result: object): object => ({ resultType: 'complete', ...result })
const text = (said: string): object => ({ content: [{ type: 'text', text: said }] })

const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
const question = (message: string): object => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: schema },
})
const NAMES = ['asks', 'asks-twice', 'asks-for-ever', 'samples', 'task', 'task-asks', 'task-fails', 'task-hangs']

let polls = 0
let answered: object | undefined
/** Looks at a task that still show its question after the answer has come. */
let unread = 1

function call({ name = '', inputResponses, requestState }: Params): object {
  const said = JSON.stringify(inputResponses ?? null)
  note(`${name} ${requestState ?? '-'} ${said}`)
  switch (name) {
    case 'asks':
      if (inputResponses && requestState === 'state 1') return complete(text(said))
      return { resultType: 'input_required', inputRequests: { size: question('Which size?') }, requestState: 'state 1' }
    case 'asks-twice':
      if (requestState === 'state 2') return complete(text(said))
      return {
        resultType: 'input_required',
        inputRequests: { size: question(requestState ? 'Are you sure?' : 'Which size?') },
        requestState: requestState ? 'state 2' : 'state 1',
      }
    case 'asks-for-ever':
      return { resultType: 'input_required', inputRequests: { size: question('Again?') } }
    case 'samples':
      return { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage', params: {} } } }
    default:
      return { resultType: 'task', ...createTask(name, 'working') }
  }
}

function createTask(taskId: string, status: string): object {
  const at = new Date(0).toISOString()
  return { taskId, status, createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: 50 }
}

function readTask({ taskId = '' }: Params): object {
  polls += 1
  if (taskId === 'task-hangs' || polls < 3) return complete(createTask(taskId, 'working'))
  if (taskId === 'task-fails')
    return complete({ ...createTask(taskId, 'failed'), error: { code: -32_000, message: 'out of paper' } })
  if (taskId === 'task-asks' && (!answered || unread-- > 0))
    return complete({ ...createTask(taskId, 'input_required'), inputRequests: { size: question('Which size?') } })
  return complete({
    ...createTask(taskId, 'completed'),
    result: text(`after ${polls} looks: ${JSON.stringify(answered ?? null)}`),
  })
}

function answer({ method, params = {} }: Message): object | undefined {
  switch (method) {
    case 'server/discover':
      return complete({
        ttlMs: 0,
        cacheScope: 'private',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '1' } },
      })
    case 'tools/list':
      return complete({
        ttlMs: 0,
        cacheScope: 'private',
        tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })),
      })
    case 'tools/call':
      return call(params)
    case 'tasks/get':
      return readTask(params)
    case 'tasks/update':
      answered = params.inputResponses
      return complete({})
    case 'tasks/cancel':
      note(`cancelled ${params.taskId}`)
      return complete({})
    default:
      return undefined
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) return
  const result = answer(message)
  send(result ? { id: message.id, result } : { id: message.id, error: { code: -32_601, message: 'Method not found' } })
})
process.stdin.on('end', () => process.exit(0))
