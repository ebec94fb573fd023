// A program that exports what each function of users' doors returns. Compiled with `declaration`, it fails if a type that
// users hold has no public name: their own libraries could not be declared.
import { join } from 'node:path'
import { describeApi } from './api.ts'
import { ADDED_DOORS, USER_DOORS } from './doors.ts'
import { packagesInOrder } from './packages.ts'

const OWN_PROGRAM = `import { createHost, defineAgent, tool } from '@baton/host'
export const hours = tool({
  name: 'hours',
  description: 'The opening hours',
  input: { type: 'object', properties: { shop: { type: 'string' } }, required: ['shop'] },
  effect: 'pure',
  execute: ({ shop }) => ({ shop, open: '9 to 5' }),
})
export const place = tool({ name: 'place', description: 'The place', input: { type: 'object', properties: {} } })
export const agent = defineAgent({ name: 'desk', model: 'offline', tools: [hours, place] })
export const host = createHost({ agent })
export const session = await host.session()
export const turn = session.send('Hello')
export const client = await session.attach()
export const page = await host.approvals()
export const reminder = await session.at(new Date(), 'now')
export async function readCall() {
  for await (const event of turn) if (event.type === 'call') return event.call
  return undefined
}
`

/** The program's text. */
export function declareResults(): string {
  const doors = packagesInOrder()
    .flatMap((one) => {
      const parts = describeApi(one).trim().split('\n\n')
      return one.entries.map(({ subpath }, index) => ({ door: join(one.name, subpath), part: parts[index] ?? '' }))
    })
    .filter(({ door }) => USER_DOORS.includes(door) || ADDED_DOORS.includes(door))
  const lines = doors.flatMap(({ door, part }, index) => {
    const functions = [...part.matchAll(/^ {2}function (\w+)$/gm)].map(([, name = '']) => name)
    if (functions.length === 0) return []
    return [
      `import * as door${index} from '${door}'`,
      ...functions.map(
        (name) =>
          `export const ${name}${index} = await door${index}.${name}(...(null as unknown as Parameters<typeof door${index}.${name}>))`,
      ),
    ]
  })
  return `${OWN_PROGRAM}${lines.join('\n')}\n`
}
