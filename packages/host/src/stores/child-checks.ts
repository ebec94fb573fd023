// Checks of what every store is given for a child: the names, and that a session is used as what it is, a child under its
// root or a session of its own.
import type { ChildOf } from '@baton/core/internal'
import { BatonError, checkName } from '@baton/core/internal'

/** @throws BatonError `invalid_option` */
export function checkNames(session: string, under: ChildOf | undefined): void {
  checkName('a session’s id', session)
  if (under) checkName('a root’s id', under.root)
}

/** The row of a session, as far as it says whether it is a child. */
export interface KnownRow {
  /** `undefined` or `null` for a session of its own. */
  readonly root?: string | null | undefined
  /** Position of its last record; -1 if it has none. */
  readonly pos: number
}

/** Checks that the session may be used as no child. @throws BatonError `illegal_input` */
export function checkOwn(session: string, row: Pick<KnownRow, 'root'> | undefined): void {
  if (typeof row?.root === 'string') throw createChildError(session, row.root)
}

/**
 * Checks that the session may be a child of this root: it is one, or has no record yet.
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
    message: `session ${session} belongs to session ${root}, and is written and removed with it alone`,
    hint: `Use session ${root} in its place.`,
    data: { root },
  })
}
