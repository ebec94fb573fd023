// A tool that is offered can be called, whatever its schema's dialect: anything that cannot be checked is reported when
// the tool is defined, never by a failing call.
import type { JsonObject } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { expect, test } from 'vitest'
import { STRANGE } from './strange-schemas.ts'

/** The arguments that the tool ran with, and the contents of the host's log. */
async function callWith(input: JsonObject, all: readonly JsonObject[]) {
  const ran: unknown[] = []
  const told: unknown[] = []
  const made = tool({
    name: 't',
    description: '',
    input,
    effect: 'pure',
    execute: (given) => {
      ran.push(given)
      return 'ok'
    },
  })
  const calls = all.map((one) => ({ name: 't', arguments: one }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Done.' }] })
  const log = { info: () => {}, warn: (_: string, data?: JsonObject) => void told.push(data?.['leftOut']) }
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [made] }), log })
  const session = await host.session('one')
  await session.send('Go.').answer
  await host.stop()
  return { ran, told }
}

test.each(Object.entries(STRANGE))(
  '%s: right arguments run, wrong ones do not, and what is left out is told once',
  async (_, strange) => {
    const { input, right, wrong = [], told } = strange
    const found = await callWith(input, [...right, ...wrong])
    expect(found.ran).toEqual(right)
    expect(found.told).toEqual(told === undefined ? [] : [[told]])
  },
)
