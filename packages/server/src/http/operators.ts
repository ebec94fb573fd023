// Sessions as operators open them. This file alone says what a power allows; a principal without the power gets what it gets
// as an ordinary client.
import type { FrontSession, SessionView } from '@baton/core/internal'
import { BatonError, frontOf } from '@baton/core/internal'
import type { Call, HandlerParts } from './handler-parts.ts'
import type { OperatorPower } from './operator-powers.ts'

/** @throws BatonError `unauthorized` */
export function demandPower({ powers }: Call, power: OperatorPower): void {
  if (powers.has(power)) return
  throw new BatonError({
    code: 'unauthorized',
    message: `this needs the power "${power}", which the caller does not have`,
  })
}

/**
 * Opens a session for one act. An operator with the power reads it without opening it (`see`, `export`), or acts in its
 * owner's name (`act`, `decide`), which the log shows. Anyone else opens it as its owner.
 * @throws BatonError as `host.session`
 */
export async function openFor(
  { host, world }: HandlerParts,
  call: Call,
  id: string,
  power: OperatorPower | undefined,
): Promise<SessionView | FrontSession> {
  const { principal, powers } = call
  const owner = power && powers.has(power) ? await host.views?.ownerOf(id) : undefined
  if (!owner || !host.views) return await call.open(id, { existing: true })
  if (power === 'see' || power === 'export') return await host.views.open(id)
  if (owner.id === principal.id) return await call.open(id, { existing: true })
  const session = frontOf(await host.session(id, { principal: owner, by: principal, existing: true }))
  world.log.info('an operator acts on a session', { session: id, operator: principal.id, address: call.url.pathname })
  return session
}
