// Finds the search attributes that a worker may write: those registered with the service. A workflow that wrote any
// other could not complete.
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import type { NativeConnection } from '@temporalio/worker'
import type { SearchField } from '../contract.ts'
import { SEARCH_ATTRIBUTES } from '../contract.ts'

const FIELDS = Object.keys(SEARCH_ATTRIBUTES) as readonly SearchField[] // its own keys
/** Value of the service's `IndexedValueType`. */
const KEYWORD = 2

export interface SearchAttributesOptions {
  readonly connection: Pick<NativeConnection, 'operatorService'>
  readonly namespace: string
  /** Names that must exist; any if absent. */
  readonly wanted: readonly SearchField[] | undefined
  readonly log: Logger
}

/** @throws BatonError `invalid_option` when a wanted one is not registered as a keyword */
export async function findSearchAttributes(init: SearchAttributesOptions): Promise<readonly SearchField[]> {
  const { namespace, wanted, log } = init
  if (wanted?.length === 0) return []
  const known = await listKnown(init)
  // If the service does not allow the query, named attributes are trusted.
  if (!known) return wanted ?? []
  const isKnown = (field: SearchField): boolean => known[SEARCH_ATTRIBUTES[field]] === KEYWORD
  const missing = (wanted ?? FIELDS).filter((field) => !isKnown(field))
  const names = missing.map((field) => SEARCH_ATTRIBUTES[field])
  const create = `temporal operator search-attribute create --namespace ${namespace} ${names.map((name) => `--name ${name} --type Keyword`).join(' ')}`
  if (wanted && missing.length > 0)
    throw new BatonError({
      code: 'invalid_option',
      message: `the namespace ${namespace} has no search attributes of type Keyword named ${names.join(', ')}`,
      hint: `Register them: ${create}`,
    })
  if (missing.length > 0) log.info('search attributes are skipped because they are not registered', { names, create })
  return (wanted ?? FIELDS).filter(isKnown)
}

async function listKnown({
  connection,
  namespace,
  log,
}: SearchAttributesOptions): Promise<Readonly<Record<string, number>> | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    return customAttributes ?? {}
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    log.info('the search attributes of the service cannot be listed', { cause: why })
    return undefined
  }
}
