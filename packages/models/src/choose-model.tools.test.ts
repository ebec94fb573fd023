// Models by id: which are probed for tools, and the effect of BATON_TOOLS.
import type { Transport } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import type { Variables } from './provider-settings.ts'
import { createModelOf } from './choose-model.ts'

describe('tools of a server that may take none', () => {
  /** Shows how one request with a tool is sent: `probe`, `tools` or `words`. Every server answers "No." */
  async function asked(id: string, variables: Variables) {
    const bodies: string[] = []
    const told: string[] = []
    const transport: Transport = {
      post: (request, _signal, onBytes) => {
        bodies.push(request.body)
        const head = { status: 200, headers: { 'content-type': 'application/json' } }
        const message = { role: 'assistant', content: 'No.' }
        const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
        onBytes(new TextEncoder().encode(JSON.stringify(answer)), head)
        return Promise.resolve(head)
      },
    }
    const init = { variables: { OPENAI_BASE_URL: 'http://h', GROQ_API_KEY: 'k', ...variables }, transport }
    const model = createModelOf({
      ...init,
      clock: { nowMs: () => 0 },
      onToolVerdict: (verdict, of) => told.push(`${of} ${verdict.type}`),
    })(id)
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]
    const request = { instructions: '', messages: [], tools, toolChoice: { type: 'auto' }, settings: {} } as const
    await model.run({ ...request, session: 's' }, () => {}, new AbortController().signal)
    expect(model.capabilities.tools).toBe('native')
    const kinds = bodies.map((body) =>
      body.includes('repeat_word') ? 'probe' : /"tools":/.exec(body) ? 'tools' : body,
    )
    return [kinds, told]
  }
  const words = (mark: string): unknown => expect.stringContaining(mark)

  test.each(['ollama/m', 'lmstudio/m', 'vllm/m', 'openai-compatible/m'])(
    '%s is asked once what it does',
    async (id) => {
      expect(await asked(id, {})).toEqual([['probe', words('<tool_call>')], [`${id} prompted`]])
    },
  )

  test.each<[string, Variables, unknown]>([
    ['groq/m', {}, 'tools'],
    ['groq/m', { BATON_TOOLS: 'prompted' }, 'tools'],
    ['ollama/m', { BATON_TOOLS: 'native' }, 'tools'],
    ['ollama/m', { BATON_TOOLS: ' prompted ' }, words('<tool_call>')],
    ['ollama/m', { BATON_TOOLS: 'brackets' }, words('[<name>(')],
  ])('%s with %j is not', async (id, variables, kind) => {
    expect(await asked(id, variables)).toEqual([[kind], []])
  })
})
