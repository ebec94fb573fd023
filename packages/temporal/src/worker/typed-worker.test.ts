// Types of a worker, tested by `tsc`: lines that must not compile are marked.
import type { ToolContext } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { expectTypeOf, test } from 'vitest'
import type { TemporalWorker, TemporalWorkerOptions } from './create-worker.ts'
import { createTemporalWorker } from './create-worker.ts'

interface Doors {
  readonly openDoor: () => string
}
const door = tool({
  name: 'door',
  description: 'Opens the door',
  input: { type: 'object' },
  execute: (_, { services }: ToolContext<Doors>) => services.openDoor(),
})
const agent = defineAgent({ name: 'house', model: 'openai/gpt-5', tools: [door] })

test('a worker must have the services that the tools of its agent need', () => {
  const start = ({ logStore }: TemporalWorkerOptions) => ({
    // @ts-expect-error services are missing
    bare: createTemporalWorker({ logStore, agent }),
    // @ts-expect-error openDoor is missing
    lacking: createTemporalWorker({ logStore, agent, services: {} }),
    whole: createTemporalWorker({ logStore, agent, services: { openDoor: () => 'open' } }),
    several: createTemporalWorker({ logStore, agents: [agent] }),
  })
  expectTypeOf<ReturnType<typeof start>['whole']>().toEqualTypeOf<Promise<TemporalWorker>>()
})
