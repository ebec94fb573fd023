// State shared by all views: the operator, the route, the clock and the inbox.
import { batch, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useEffect, useRef } from 'preact/hooks'
import type { Api, WaitingApproval, Me, Power, Watching } from './api.ts'
import { ApiError } from './api.ts'
import type { Shortcut } from './keys.ts'
import type { Route } from './route.ts'
import { formatRoute, parseRoute } from './route.ts'

export type Connection = 'live' | 'connecting' | 'lost'

/** An act that a person is asked about. */
export interface Asked {
  readonly title: string
  readonly words: string
  /** The button: what happens. */
  readonly does: string
  readonly isDangerous?: boolean
  readonly run: () => Promise<string>
}

export function createStore(api: Api) {
  const store = {
    api,
    me: signal<Me | undefined>(undefined),
    failure: signal<ApiError | undefined>(undefined),
    route: signal<Route>(parseRoute(location.hash)),
    nowMs: signal(Date.now()),
    connection: signal<Connection>('connecting'),
    /** Why the inbox, which is always watched, cannot be read. */
    lost: signal<{ readonly sinceMs: number; readonly error: ApiError } | undefined>(undefined),
    inbox: signal<readonly WaitingApproval[]>([]),
    inboxLoaded: signal(false),
    asked: signal<Asked | undefined>(undefined),
    help: signal(false),
    /** The latest message, also for screen readers. */
    told: signal(''),
    shortcuts: new Map<object, readonly Shortcut[]>(),
    go(route: Route, how: 'push' | 'replace' = 'push'): void {
      const hash = formatRoute(route)
      if (how === 'push') history.pushState(null, '', hash)
      else history.replaceState(null, '', hash)
      store.route.value = route
    },
    may(power: Power): boolean {
      return store.me.value?.powers.includes(power) === true
    },
    tell(words: string): void {
      store.told.value = words
    },
  }
  return store
}
export interface Store extends ReturnType<typeof createStore> {}

export const StoreContext = createContext<Store | undefined>(undefined)

export function useStore(): Store {
  const store = useContext(StoreContext)
  if (!store) throw new Error('a view stands outside of the page')
  return store
}

/** Registers shortcuts of a component while it is on the page. Those of inner components win. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { shortcuts: all } = useStore()
  // The next view mounts before the replaced one unmounts, so each registers under a separate key.
  const own = useRef({})
  all.set(own.current, shortcuts)
  useEffect(() => () => void all.delete(own.current), [all])
}

const RETRY_MS = 1000
const RETRY_MS_MAX = 15_000

/**
 * Watches until `signal` aborts: again after each end, after a pause that grows with each failure in a row. A hidden tab
 * watches only if `evenHidden`, because a browser allows six connections to a server of HTTP/1.1.
 */
export async function keepWatching(
  watch: (watching: Watching) => Promise<void>,
  { signal: stop, take, opened, failed, evenHidden = false }: KeptWatching,
): Promise<void> {
  let pauseMs = RETRY_MS
  while (!stop.aborted) {
    if (!evenHidden) await waitUntilVisible(stop)
    const hiding = new AbortController()
    const hide = (): void => void (document.hidden && !evenHidden && hiding.abort())
    document.addEventListener('visibilitychange', hide)
    try {
      await watch({
        signal: AbortSignal.any([stop, hiding.signal]),
        take,
        opened: () => {
          pauseMs = RETRY_MS
          opened?.()
        },
      })
    } catch (cause) {
      if (stop.aborted) return
      if (!hiding.signal.aborted) failed(cause)
    } finally {
      document.removeEventListener('visibilitychange', hide)
    }
    if (!hiding.signal.aborted) await pause(pauseMs, stop)
    pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX)
  }
}

interface KeptWatching extends Watching {
  readonly failed: (cause: unknown) => void
  readonly evenHidden?: boolean
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stop.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}

function waitUntilVisible(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !stop.aborted) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    stop.addEventListener('abort', look, { once: true })
    look()
  })
}

/** Reads who looks, and keeps the inbox live. Returns what ends it. */
export function startStore(store: Store): () => void {
  const end = new AbortController()
  const clock = setInterval(() => (store.nowMs.value = Date.now()), 1000)
  const follow = (): void => void (store.route.value = parseRoute(location.hash))
  addEventListener('hashchange', follow)
  addEventListener('popstate', follow)
  store.api.me().then(
    (me) => {
      store.me.value = me
      void watchInbox(store, end.signal)
    },
    (cause: unknown) => (store.failure.value = asApiError(cause)),
  )
  return () => {
    end.abort()
    clearInterval(clock)
    removeEventListener('hashchange', follow)
    removeEventListener('popstate', follow)
  }
}

async function watchInbox(store: Store, stop: AbortSignal): Promise<void> {
  await keepWatching(store.api.watchApprovals, {
    signal: stop,
    // The title of a hidden tab counts the requests.
    evenHidden: true,
    opened: () =>
      batch(() => {
        store.connection.value = 'live'
        store.lost.value = undefined
      }),
    take: (page) =>
      batch(() => {
        store.inbox.value = (page as { approvals: readonly WaitingApproval[] }).approvals // the server's contract
        store.inboxLoaded.value = true
        store.connection.value = 'live'
      }),
    failed: (cause) =>
      batch(() => {
        store.connection.value = 'lost'
        store.lost.value = { sinceMs: store.lost.value?.sinceMs ?? Date.now(), error: asApiError(cause) }
      }),
  })
}

const TOKEN = 'baton-console-token'

/** Keeps a token in the tab's own storage, so that no copied address has it. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token)
}

export function readToken(): string | undefined {
  return sessionStorage.getItem(TOKEN) ?? undefined
}

export function asApiError(cause: unknown): ApiError {
  return cause instanceof ApiError
    ? cause
    : new ApiError({ code: 'page_failed', message: cause instanceof Error ? cause.message : String(cause) })
}
