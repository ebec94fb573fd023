// One tool, described in four ways: with Zod, Valibot, ArkType and plain JSON Schema. `execute` is typed by each.
import type { ToolContext } from '@baton/host'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'

interface Services {
  readonly people: ReadonlyMap<string, number>
}
const words = { description: 'The population of a city', effect: 'pure' } as const

const byZod = tool({
  ...words,
  name: 'zod',
  input: z.object({ city: z.string().describe('Its name in English') }),
  output: z.object({ people: z.number().nullable() }), // the returned value must fit
  execute: ({ city }, { services }: ToolContext<Services>) => ({ people: services.people.get(city) ?? null }),
})
const byValibot = tool({
  ...words,
  name: 'valibot',
  input: toStandardJsonSchema(v.object({ city: v.pipe(v.string(), v.minLength(1)) })),
  execute: ({ city }, { services }: ToolContext<Services>) => services.people.get(city) ?? null,
})
const byArkType = tool({
  ...words,
  name: 'arktype',
  input: type({ city: 'string > 0' }),
  execute: ({ city }, { services }: ToolContext<Services>) => services.people.get(city) ?? null,
})
const byJsonSchema = tool({
  ...words,
  name: 'json-schema',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }, { services }: ToolContext<Services>) => services.people.get(city) ?? null,
})

const tools = [byZod, byValibot, byArkType, byJsonSchema] as const
const calls = tools.map(({ name }) => ({ name, arguments: { city: 'Oslo' } }))
const model = createScriptedModel({ steps: [{ calls }, { text: 'About 718,000 people.' }] })
await using host = createHost({
  agent: defineAgent({ name: 'cities', model, tools }),
  services: { people: new Map([['Oslo', 717_710]]) }, // the tools declare what they need
})
const session = await host.session()
for await (const event of session.send('How many people live in Oslo?'))
  if (event.type === 'call' && event.call.result?.type === 'ok')
    console.log(`${event.call.name}: ${JSON.stringify(event.call.result.content)}`)
