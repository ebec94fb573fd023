// Checks that every store shares: names, that a child is used under its root, and that an independent session is not used
// as a child.
import type { ChildOf } from '@baton/core/internal'
import { BatonError, checkName } from '@baton/core/internal'

/** @throws BatonError `invalid_option` */
export function checkNames(session: string, under: ChildOf | undefined): void {
  checkName('a session’s id', session)
  if (under) checkName('a root’s id', under.root)
}

/** Fields of a session's row that decide whether it may be a child. */
export interface KnownRow {
  /** `undefined` or `null` for an independent session. */
  readonly root?: string | null | undefined
  /** Position of its last record; -1 if it has none. */
  readonly pos: number
}

/** Checks that the session is not a child. @throws BatonError `illegal_input` */
export function checkOwn(session: string, row: Pick<KnownRow, 'root'> | undefined): void {
  if (typeof row?.root === 'string') throw createChildError(session, row.root)
}

/**
 * Checks that the session is a child of this root, or has no records yet.
 * @throws BatonError `illegal_input`
 */
export function checkChild(session: string, root: string, row: KnownRow | undefined): void {
  if (session === root)
    throw new BatonError({
      code: 'illegal_input',
      message: `session ${session} cannot be its own root`,
      hint: 'Name the session that the call tree began with.',
    })
  if (typeof row?.root === 'string' && row.root !== root) throw createChildError(session, row.root)
  if (row && typeof row.root !== 'string' && row.pos >= 0)
    throw new BatonError({
      code: 'illegal_input',
      message: `session ${session} has records of its own, so it cannot belong to session ${root}`,
      hint: 'Give the child another name.',
    })
}

function createChildError(session: string, root: string): BatonError {
  return new BatonError({
    code: 'illegal_input',
    message: `session ${session} is a child of session ${root}, and is only written and removed through it`,
    hint: `Use session ${root}, which lists what its children ask and answer.`,
    data: { root },
  })
}
