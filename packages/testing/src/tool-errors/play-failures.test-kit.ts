// A turn in which one call after another fails, and what the model, the user and the operator saw of each.
import type { JsonObject } from '@baton/core'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { expect, test } from 'vitest'
import type { ToolKind } from './tool-error-kinds.test-kit.ts'
import { resultsTold } from '../host-contract/situation-parts.ts'
import type { FailureExpected, FailureName } from './tool-errors-situations.ts'
import { FAILURE_NAMES, FAILURES, SECRET } from './tool-errors-situations.ts'

export function playFailures(kind: ToolKind): void {
  for (const failure of FAILURE_NAMES) {
    const why = kind.leftOut[failure]
    const name = [kind.name, failure, ...(why === undefined ? [] : [why])].join(': ')
    test.skipIf(why !== undefined)(name, () => play(kind, failure))
  }
}

async function play(kind: ToolKind, failure: FailureName): Promise<void> {
  const { code, layer, fault, says, begins = true } = kind.instead?.[failure] ?? (FAILURES[failure] as FailureExpected) // its rows cover all failures
  const usual = (name: FailureName): readonly [string, JsonObject] => [name, { id: name === 'arguments' ? 7 : 'A-71' }]
  const [name, input] = (kind.call ?? usual)(failure)
  const model = createScriptedModel({ steps: [{ calls: [{ name, arguments: { ...input } }] }, { text: 'Sorry.' }] })
  const lines: (readonly ['info' | 'warn', string, JsonObject | undefined])[] = []
  const log = {
    info: (message: string, data?: JsonObject) => void lines.push(['info', message, data]),
    warn: (message: string, data?: JsonObject) => void lines.push(['warn', message, data]),
  }
  const opened = await kind.open()
  const { tools = [], sources = [] } = opened
  const host = createHost({
    agent: defineAgent({ name: 'shop', model, tools: [...tools], sources }),
    log,
    secrets: [SECRET],
  })
  try {
    const session = await host.session('one')
    const seen: unknown[] = []
    for await (const event of session.send('Go.')) if (event.type === 'call') seen.push(event.call.result)
    const shown = seen.find((result) => result !== undefined)
    expect(shown).toMatchObject({ type: 'error', code })
    const { message } = shown as { readonly message: string } // errors have a message
    expect(message).toMatch(says)
    const [told] = resultsTold(model)
    expect(told?.isError).toBe(true)
    expect(told?.text).toContain(message)
    const line = [
      layer === 'tool' ? 'info' : 'warn',
      'a tool failed',
      { session: 'one', tool: name, code, layer, fault },
    ]
    // Only the model learns of a call that never started.
    expect(lines.filter(([, said]) => said === 'a tool failed')).toMatchObject(begins ? [line] : [])
    expect(JSON.stringify([seen, model.requests, lines])).not.toContain(SECRET)
    expect(model.requests).toHaveLength(2)
  } finally {
    await host.stop()
    await opened.close?.()
  }
}
