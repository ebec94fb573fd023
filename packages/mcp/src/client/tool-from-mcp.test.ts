// The key of a call: a server that knows it gives the first call's result.
import type { ToolContext } from '@baton/core/internal'
import { createArgumentValidator } from '@baton/runtime'
import { expect, test } from 'vitest'
import { toolFromMcp } from './tool-from-mcp.ts'

test.each([
  { effect: 'pure', isSame: false },
  { effect: 'idempotent', isSame: true },
] as const)(
  'two $effect calls under one key, with other arguments, are the same to a server: $isSame',
  async (given) => {
    const keys: string[] = []
    const made = toolFromMcp(
      { name: 'find', inputSchema: { type: 'object' } },
      {
        options: { effects: { find: given.effect } },
        validator: createArgumentValidator(),
        call: (_input, { idempotencyKey }) => {
          keys.push(idempotencyKey)
          return Promise.resolve({
            definition: { name: 'find', inputSchema: { type: 'object' } },
            result: { content: [{ type: 'text', text: 'found' }] },
          })
        },
      },
    )
    const context = { idempotencyKey: 's/call_1_0' } as ToolContext // the only field used
    for (const word of ['one', 'one', 'two']) await made.execute?.({ word }, context)
    const [first, again, other] = keys
    expect(again).toBe(first)
    expect(other === first).toBe(given.isSame)
  },
)
