// An MCP server of 2025-11-25 whose tools fail as their names say. As a program it uses standard input and output; as a
// function it answers over HTTP.
import { createInterface } from 'node:readline'
import type { FailureName } from './tool-errors-situations.ts'
import { FAILURE_NAMES, LARGE_CHARS, SECRET } from './tool-errors-situations.ts'

export interface McpMessage {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: FailureName }
}

const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
const outputSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }

/** Undefined for a notification. */
export function answerMcp({ id, method, params }: McpMessage): object | undefined {
  if (id === undefined) return undefined
  const answer = (result: object): object => ({ jsonrpc: '2.0', id, result })
  if (method === 'initialize')
    return answer({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'f', version: '1' },
    })
  if (method === 'tools/list')
    return answer({
      tools: FAILURE_NAMES.map((name) => ({
        name,
        description: `Fails: ${name}`,
        inputSchema,
        ...(name === 'wrong' && { outputSchema }),
      })),
    })
  if (method !== 'tools/call') return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
  const text = (said: string): object => ({ type: 'text', text: said })
  switch (params?.name) {
    case 'own':
      return answer({ isError: true, content: [text(`there is no order A-71 for ${SECRET}`)] })
    case 'wrong':
      return answer({ content: [text('{"count":"two"}')], structuredContent: { count: 'two' } })
    case 'large':
      return answer({ content: [text('x'.repeat(LARGE_CHARS))] })
    default:
      return answer({ content: [text('it did not fail')] })
  }
}

if (import.meta.filename === process.argv[1]) {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as McpMessage
    if (message.method === 'tools/call' && message.params?.name === 'unreachable') process.exit(1)
    const answer = answerMcp(message)
    if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`)
  })
  process.stdin.on('end', () => process.exit(0))
}
