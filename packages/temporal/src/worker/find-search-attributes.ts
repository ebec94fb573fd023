// Which search attributes a worker may write: those that somebody has registered with the service. A workflow that wrote
// another one would not come to its end.
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import type { NativeConnection } from '@temporalio/worker'
import type { SearchField } from '../contract.ts'
import { SEARCH_ATTRIBUTES } from '../contract.ts'

const FIELDS = Object.keys(SEARCH_ATTRIBUTES) as readonly SearchField[] // its own keys
/** Value of the service's `IndexedValueType`. */
const KEYWORD = 2

export interface SearchAttributesInit {
  readonly connection: Pick<NativeConnection, 'operatorService'>
  readonly namespace: string
  /** Names that must exist; absent: any. */
  readonly wanted: readonly SearchField[] | undefined
  readonly log: Logger
}

/** @throws BatonError `invalid_option` where one that is wanted is not registered, or not as a keyword */
export async function findSearchAttributes(init: SearchAttributesInit): Promise<readonly SearchField[]> {
  const { namespace, wanted, log } = init
  if (wanted?.length === 0) return []
  const known = await listKnown(init)
  // If nobody may ask, whoever names them answers for them.
  if (!known) return wanted ?? []
  const isKnown = (field: SearchField): boolean => known[SEARCH_ATTRIBUTES[field]] === KEYWORD
  const missing = (wanted ?? FIELDS).filter((field) => !isKnown(field))
  const names = missing.map((field) => SEARCH_ATTRIBUTES[field])
  const create = `temporal operator search-attribute create --namespace ${namespace} ${names.map((name) => `--name ${name} --type Keyword`).join(' ')}`
  if (wanted && missing.length > 0)
    throw new BatonError({
      code: 'invalid_option',
      message: `the namespace ${namespace} has no search attributes of the type Keyword with the names ${names.join(', ')}`,
      hint: `Register them: ${create}`,
    })
  if (missing.length > 0) log.info('search attributes are left out: they are not registered', { names, create })
  return (wanted ?? FIELDS).filter(isKnown)
}

async function listKnown({
  connection,
  namespace,
  log,
}: SearchAttributesInit): Promise<Readonly<Record<string, number>> | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    return customAttributes ?? {}
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    log.info('the service does not tell its search attributes', { cause: why })
    return undefined
  }
}
