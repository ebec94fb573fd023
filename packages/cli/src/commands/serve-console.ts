// The console of `baton serve` and `baton console`: operators by their tokens, and its address next to the chats.
import type { Principal } from '@baton/core'
import type { ConsoleOptions } from '@baton/console'
import type { createHandler } from '@baton/server/http'
import { isSameSecret, readBearerToken } from '@baton/server/internal'
import type { KnownOperator } from './operator-options.ts'

type Handler = ReturnType<typeof createHandler>

interface Mounting {
  readonly operators: readonly KnownOperator[]
  readonly options: Omit<ConsoleOptions, 'roles'>
  readonly chats: Handler
}

/** Adds the console to the chats, and loads it only if there are operators. Its tokens are valid for nothing else. */
export async function mountConsole(
  host: Parameters<typeof createHandler>[0],
  { operators, options, chats }: Mounting,
): Promise<Handler> {
  if (operators.length === 0) return chats
  const { createConsole } = await import('@baton/console')
  const page = createConsole(host, { ...options, ...describeOperators(operators) })
  const isOfConsole = (path: string): boolean => path === '/console' || path.startsWith('/console/')
  return (request, source) => (isOfConsole(new URL(request.url).pathname) ? page : chats)(request, source)
}

/** Finds operators by their tokens, and their powers by their names. */
export function describeOperators(
  operators: readonly Pick<KnownOperator, 'name' | 'token' | 'powers'>[],
): Required<Pick<ConsoleOptions, 'authenticate' | 'roles'>> {
  return {
    authenticate: ({ headers }): Principal | undefined => {
      const given = readBearerToken(headers.get('authorization') ?? undefined, new URLSearchParams())
      const found = operators.find(({ token }) => given !== undefined && isSameSecret(given, token))
      return found && { id: found.name, roles: [found.name] }
    },
    roles: Object.fromEntries(operators.map(({ name, powers }) => [name, powers])),
  }
}
