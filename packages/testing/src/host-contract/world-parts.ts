// Shared by the worlds of all kinds of hosts.
import type { Agent, Environment, Logger } from '@baton/core'
import { defineAgent } from '@baton/core'
import type { Fact, FactOf, FactType } from '@baton/core/machine'
import type { ScriptedModel } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import type { VirtualTime } from '../simulator/virtual-time.ts'
import type { ContractWorld, ContractWorldOptions } from './host-kind.ts'

export interface WorldParts {
  readonly time: VirtualTime
  readonly environment: Environment
  readonly model: ScriptedModel
  readonly agent: Agent
  readonly log: Logger
  readonly warnings: readonly string[]
}

/** Ids that count from 1. */
export function createSerialIds(): () => string {
  let serial = 0
  return () => `id-${(serial += 1)}`
}

/** `newId` is shared by the successive hosts of one world. */
export function createWorldParts(time: VirtualTime, newId: () => string, init: ContractWorldOptions): WorldParts {
  const { steps, models, catalog: _, blobs: __, ...agent } = init
  const { clock, timers } = time
  const model = createScriptedModel({ steps, timers })
  const warnings: string[] = []
  return {
    time,
    model,
    warnings,
    environment: {
      clock,
      timers,
      newId,
      transport: { post: () => Promise.reject(new Error('this world has no network')) },
    },
    agent: defineAgent({ name: 'tested', ...agent, model: models ?? model }),
    log: { info: () => {}, warn: (message) => void warnings.push(message) },
  }
}

export function assembleWorld(
  { time, model, warnings }: WorldParts,
  { host, session, records }: Pick<ContractWorld, 'host' | 'session' | 'records'>,
): ContractWorld {
  const isAmong =
    <Type extends FactType>(type: Type) =>
    (fact: Fact): fact is FactOf<Type> =>
      fact.type === type
  return {
    host,
    session,
    time,
    model,
    warnings,
    open: () => time.until(host.session(session)),
    records,
    facts: async (type) => (await records()).flatMap((record) => record.facts).filter(isAmong(type)),
  }
}
