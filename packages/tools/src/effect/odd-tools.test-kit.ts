// Test tools whose Effects fail, hang or lie. Identical in both versions of Effect, since they use only what the two
// share.
import type { ToolContext } from '@baton/core'
import type * as effect3 from 'effect'
import type { Counts } from './effect-fixture.test-kit.ts'
import type { EffectTool } from './index.ts'
import { effectTool } from './index.ts'

export interface OddPlace<Call> {
  readonly counts: Counts
  /** Called when the Effect of `order.wait` or `order.stubborn` has started. */
  readonly begin: () => void
  /** The context of the call. */
  readonly call: effect3.Effect.Effect<ToolContext, never, Call>
  /** Two failures at once. */
  readonly failures: readonly Error[]
}

export function createOddTools<Call>(
  { Effect, Schema }: Pick<typeof effect3, 'Effect' | 'Schema'>,
  { counts, begin, call, failures }: OddPlace<Call>,
): readonly EffectTool<Call>[] {
  const plain = { description: 'Of a test', input: Schema.Struct({}), effect: 'idempotent' } as const
  const hang = Effect.suspend(() => {
    begin()
    return Effect.never
  })
  return [
    effectTool({ ...plain, name: 'order.die', execute: () => Effect.die(new Error('the disk is full')) }),
    effectTool({
      ...plain,
      name: 'order.throw',
      execute: (): effect3.Effect.Effect<void> => {
        throw new Error('thrown before the Effect')
      },
    }),
    effectTool({
      ...plain,
      name: 'order.wait',
      execute: () => Effect.onInterrupt(hang, () => Effect.sync(() => (counts.interrupted += 1))),
    }),
    effectTool({
      ...plain,
      name: 'order.stubborn',
      onInterrupt: 'cancel',
      execute: () => Effect.uninterruptible(hang),
    }),
    effectTool({
      ...plain,
      name: 'order.wrong',
      output: Schema.Struct({ count: Schema.Int }),
      execute: () => Effect.succeed({ count: 1.5 }),
    }),
    effectTool({
      ...plain,
      name: 'order.plain',
      execute: () => Promise.resolve('no Effect') as unknown as effect3.Effect.Effect<string>, // as an untyped program would
    }),
    effectTool({
      ...plain,
      name: 'order.many',
      execute: () =>
        Effect.all(
          failures.map((failure) => Effect.fail(failure)),
          { concurrency: 2 },
        ),
    }),
    effectTool({
      ...plain,
      name: 'who',
      execute: () =>
        Effect.map(call, ({ callId, principal, progress }) => {
          progress('half')
          return { callId, principal: principal.id }
        }),
    }),
  ]
}
