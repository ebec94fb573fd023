// A session as a React hook: its state and its methods.
import type { Agent, AgentCall } from '@baton/core/internal'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { SessionHandlers, ToolHandler } from '../session/client-tools.ts'
import { createEmptySnapshot, openSession } from '../session/open-session.ts'
import type { SessionClient, OpenSessionOptions, SessionSnapshot } from '../session/session-client.ts'
import { ClientHolder } from './client-holder.ts'

export type SessionMethods<A extends Agent = Agent> = Omit<
  SessionClient<A>,
  'id' | 'speech' | 'getSnapshot' | 'subscribe' | 'close'
>

/** The snapshot and the client's methods. The methods stay the same as long as the session does. */
export type UsedSession<A extends Agent = Agent> = SessionSnapshot<AgentCall<A>> & SessionMethods<A>

/**
 * Follows a session while the component is mounted. Another `url` or `session` opens another client; tool handlers may
 * be new in every render, but their names are those of the first. Without `session` a new one is created for this
 * component. On a server it renders an empty session, `connecting`.
 */
export function useSession<A extends Agent>(options: OpenSessionOptions<SessionHandlers<A>>): UsedSession<A>
export function useSession(options: OpenSessionOptions): UsedSession
export function useSession(given: OpenSessionOptions<unknown>): UsedSession {
  const options = given as OpenSessionOptions // functions by name, as both overloads declare
  const newest = useRef(options)
  const { url, session } = options
  const { holder, methods } = useMemo(() => holdSession(newest, url, session), [url, session])
  useEffect(() => {
    newest.current = options
  })
  useEffect(holder.mount, [holder])
  const snapshot = useSyncExternalStore(holder.subscribe, holder.getSnapshot, holder.getEmpty)
  return useMemo(() => ({ ...snapshot, ...methods }), [snapshot, methods])
}

interface Newest {
  readonly current: OpenSessionOptions
}

function holdSession(newest: Newest, url: string, session: string | undefined) {
  let id = session
  const open = (): SessionClient => {
    const client = openSession({ ...bindTools(newest), url, ...(id !== undefined && { session: id }) })
    id = client.id // the same id when it is reopened
    return client
  }
  const holder = new ClientHolder(open, createEmptySnapshot(session ?? ''))
  return { holder, methods: createMethods(() => holder.client) }
}

/** Tools that call the handlers of the newest render. */
function bindTools(newest: Newest): Omit<OpenSessionOptions, 'url' | 'session'> {
  const { tools = {}, ownTools = {}, otherTool, ...others } = newest.current
  const bind = (find: (options: OpenSessionOptions) => ToolHandler | undefined, first: ToolHandler): ToolHandler => {
    return (input, context) => (find(newest.current) ?? first)(input, context)
  }
  return {
    ...others,
    tools: mapValues(tools, (handler, name) => bind((options) => options.tools?.[name], handler)),
    ownTools: mapValues(ownTools, (brought, name) => ({
      ...brought,
      run: bind((options) => options.ownTools?.[name]?.run, brought.run),
    })),
    ...(otherTool && { otherTool: bind((options) => options.otherTool, otherTool) }),
  }
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}

function createMethods(client: () => SessionClient): SessionMethods {
  return {
    on: (name, listener) => client().on(name, listener),
    send: (...given) => client().send(...given),
    hear: (...given) => client().hear(...given),
    notify: (...given) => client().notify(...given),
    retry: (...given) => client().retry(...given),
    withdraw: (...given) => client().withdraw(...given),
    rewind: (...given) => client().rewind(...given),
    edit: (...given) => client().edit(...given),
    regenerate: (...given) => client().regenerate(...given),
    interrupt: (...given) => client().interrupt(...given),
    played: (...given) => client().played(...given),
    decide: (...given) => client().decide(...given),
    answer: (...given) => client().answer(...given),
    tasks: () => client().tasks(),
    cancel: (...given) => client().cancel(...given),
    describe: (...given) => client().describe(...given),
    configure: (...given) => client().configure(...given),
    control: (...given) => client().control(...given),
    fork: (...given) => client().fork(...given),
    info: () => client().info(),
    older: (...given) => client().older(...given),
  }
}
