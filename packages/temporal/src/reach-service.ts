// Connects to the Temporal service, and explains a wrong address or namespace to the operator.
import { BatonError } from '@baton/core'
import { within, SYSTEM_TIME } from '@baton/runtime'

export interface ServicePlace {
  /** Default: `localhost:7233`. */
  readonly address?: string | undefined
  readonly namespace: string
}

interface ServiceConnection {
  readonly workflowService: { describeNamespace(request: { readonly namespace: string }): Promise<unknown> }
  close(): Promise<void>
}

const ADDRESS = 'localhost:7233'
/** Milliseconds for the service to answer whether it has the namespace. */
const ANSWER_MS = 10_000
/** gRPC's code for "not found". */
const NOT_FOUND = 5

/**
 * @throws BatonError `connection_failed` when the service cannot be reached, `invalid_option` when it has no such
 * namespace
 */
export async function reachService<Connection extends ServiceConnection>(
  { address = ADDRESS, namespace }: ServicePlace,
  connect: (options: { readonly address: string }) => Promise<Connection>,
): Promise<Connection> {
  let connection: Connection
  try {
    connection = await connect({ address })
  } catch (cause) {
    throw new BatonError({
      code: 'connection_failed',
      message: `the Temporal service at ${address} cannot be reached (--temporal, or BATON_TEMPORAL): ${describe(cause)}`,
      cause,
    })
  }
  try {
    const error = (): BatonError =>
      new BatonError({ code: 'connection_failed', message: 'the service does not answer' })
    const asked = connection.workflowService.describeNamespace({ namespace })
    await within(SYSTEM_TIME.timers, { timeoutMs: ANSWER_MS, error }, asked)
  } catch (cause) {
    // Another failure, such as a key without permission for this request, says nothing about the namespace.
    if ((cause as { readonly code?: unknown } | undefined)?.code !== NOT_FOUND) return connection
    await connection.close()
    throw new BatonError({
      code: 'invalid_option',
      message: `the Temporal service at ${address} has no namespace "${namespace}" (--namespace)`,
      cause,
    })
  }
  return connection
}

function describe(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 300)
}
