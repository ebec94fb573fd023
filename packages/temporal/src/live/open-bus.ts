// Opens the bus selected by an option.
import type { Logger } from '@baton/core'
import type { LiveBus } from './live-bus.ts'
import { createMemoryBus } from './live-bus.ts'
import { connectRedisBus } from './redis-bus.ts'

export async function openBus(redis: string | LiveBus | undefined, log: Logger): Promise<LiveBus> {
  if (redis === undefined) return createMemoryBus()
  return typeof redis === 'string' ? await connectRedisBus({ url: redis, log }) : redis
}
