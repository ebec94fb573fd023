// The shell around the views: where one can go, who looks, whether the page is live, and what a key does.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ActDialog } from './act-dialog.tsx'
import { CompareView } from './compare-view.tsx'
import { CostView } from './cost-view.tsx'
import { FailuresView } from './failures-view.tsx'
import { InboxView } from './inbox-view.tsx'
import { formatTime } from './amounts.ts'
import { createKeyReader } from './keys.ts'
import { Empty, Failure } from './parts.tsx'
import type { Route } from './route.ts'
import { formatRoute } from './route.ts'
import { SessionView } from './session-view.tsx'
import { SessionsView } from './sessions-view.tsx'
import type { Me } from './api.ts'
import { showLine } from './shown-text.ts'
import type { Store } from './store.ts'
import { keepToken, StoreContext, useShortcuts, useStore } from './store.ts'

export function App({ store }: { readonly store: Store }) {
  useEffect(() => {
    const read = createKeyReader(() => [...store.shortcuts.values()].toReversed().flat())
    addEventListener('keydown', read)
    return () => removeEventListener('keydown', read)
  }, [store])
  return (
    <StoreContext.Provider value={store}>
      <Shell />
    </StoreContext.Provider>
  )
}

function Shell() {
  const store = useStore()
  const { me, failure, help, told } = store
  useShortcuts([
    { keys: 'g s', does: 'Sessions', run: () => store.go({ view: 'sessions' }) },
    { keys: 'g i', does: 'Inbox', run: () => store.go({ view: 'inbox' }) },
    { keys: 'g f', does: 'Failures', run: () => store.go({ view: 'failures' }) },
    { keys: 'g c', does: 'Cost', run: () => store.go({ view: 'cost' }) },
    { keys: '?', does: 'Show the keys', run: () => (help.value = !help.value) },
    { keys: 'Escape', does: 'Close', run: () => (help.value = false) },
  ])
  useTitle()
  const content = failure.value ? (
    <Refused />
  ) : me.value ? (
    <View route={store.route.value} />
  ) : (
    <Empty title="Connecting…" />
  )
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        To the content
      </a>
      <Sidebar />
      <main id="main" tabIndex={-1}>
        <Lost />
        {content}
      </main>
      <div class="told" role="status" aria-live="polite">
        {told.value !== '' && <Told words={told.value} />}
      </div>
      {help.value && <Keys />}
      <ActDialog />
    </div>
  )
}

function useTitle(): void {
  const { route, inbox } = useStore()
  const count = inbox.value.length
  const { value } = route
  const place = 'session' in value && value.session !== undefined ? showLine(value.session, 40) : value.view
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${place} · Baton console`
  }, [count, place])
}

function View({ route }: { readonly route: Route }) {
  switch (route.view) {
    case 'sessions':
      return <SessionsView route={route} />
    case 'session':
      return <SessionView key={route.session} route={route} />
    case 'compare':
      return <CompareView key={`${route.session} ${route.other}`} session={route.session} other={route.other} />
    case 'inbox':
      return <InboxView route={route} />
    case 'failures':
      return <FailuresView key={`${route.agent} ${route.principal}`} route={route} />
    case 'cost':
      return <CostView route={route} />
  }
}

function Refused() {
  const { failure } = useStore()
  const error = failure.value
  if (!error) return null
  return (
    <div class="page-pad">
      <h1>The console is closed to you</h1>
      <Failure error={error} again={() => location.reload()} />
      <TokenForm />
    </div>
  )
}

/** Says that the page is not up to date, and why. */
function Lost() {
  const { lost } = useStore()
  if (!lost.value) return null
  const { sinceMs, error } = lost.value
  const isRefused = error.code === 'unauthorized'
  return (
    <div class="lost" role="alert">
      <p>
        {isRefused
          ? 'Your token is not valid any more.'
          : `The server has not been reached since ${formatTime(sinceMs)}; the page tries again.`}{' '}
        What you see may be out of date.
      </p>
      {isRefused && <TokenForm />}
    </div>
  )
}

/** Takes the token of `baton console`, or its whole address. The place in the page stays. */
function TokenForm() {
  const field = useRef<HTMLInputElement>(null)
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault()
        const given = field.current?.value.trim() ?? ''
        if (given === '') return
        keepToken(given.replace(/^.*#token=/, ''))
        location.reload()
      }}
    >
      <label>
        Token, or the address that the server printed: it ends with #token=…
        <input ref={field} type="password" autocomplete="off" />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}

const ICONS = {
  sessions: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  inbox: 'M2.5 9.5 4 3h8l1.5 6.5V13h-11zM2.5 9.5h3.2l.8 1.6h3l.8-1.6h3.2',
  failures: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
  cost: 'M3 13V8.5M8 13V3M13 13V6',
} as const

function Sidebar() {
  const { route, inbox, connection, me } = useStore()
  const current = route.value.view
  const links = [
    {
      view: 'sessions',
      words: 'Sessions',
      isHere: current === 'sessions' || current === 'session' || current === 'compare',
    },
    { view: 'inbox', words: 'Inbox', isHere: current === 'inbox', count: inbox.value.length },
    { view: 'failures', words: 'Failures', isHere: current === 'failures' },
    { view: 'cost', words: 'Cost', isHere: current === 'cost' },
  ] as const
  const state = { live: 'live', connecting: 'connecting…', lost: 'connection lost' }[connection.value]
  return (
    <header class="side">
      <div class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-back" />
          <path d="M8 22 22 8" class="brand-line" />
          <circle cx="23" cy="22" r="3" class="brand-dot" />
        </svg>
        <span>Baton</span>
      </div>
      <nav aria-label="Views">
        {links.map((link) => (
          <a
            key={link.view}
            href={formatRoute({ view: link.view })}
            {...(link.isHere && { 'aria-current': 'page' as const })}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d={ICONS[link.view]} />
            </svg>
            <span>{link.words}</span>
            {'count' in link && link.count > 0 && (
              <span class="count">
                {link.count}
                <span class="unseen"> {link.count === 1 ? 'waits' : 'wait'} for a person</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="side-foot">
        {me.value && <Person me={me.value} />}
        <span class={`connection is-${connection.value}`}>
          <i aria-hidden="true" />
          <span class="connection-words">{state}</span>
        </span>
      </div>
    </header>
  )
}

function Person({ me: { principal, powers } }: { readonly me: Me }) {
  const { id, roles = [] } = principal
  const isReader = powers.every((power) => power === 'see' || power === 'export')
  const what = isReader ? 'read-only' : roles.join(', ')
  return (
    <span class="person">
      <b>{showLine(id, 40)}</b>
      {what !== '' && <span class="muted"> {showLine(what, 40)}</span>}
    </span>
  )
}

const TOLD_MS = 4000

function Told({ words }: { readonly words: string }) {
  const store = useStore()
  useEffect(() => {
    const timer = setTimeout(() => store.tell(''), TOLD_MS)
    return () => clearTimeout(timer)
  }, [words, store])
  return <span class="toast">{showLine(words)}</span>
}

function Keys() {
  const { shortcuts, help } = useStore()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => element.current?.showModal(), [])
  const all = [...shortcuts.values()].flat()
  return (
    <dialog ref={element} class="keys" aria-labelledby="keys-title" onClose={() => (help.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        {all.map(({ keys, does }) => (
          <div key={`${keys} ${does}`}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => element.current?.close()}>
        Close
      </button>
    </dialog>
  )
}

/** The head of a view. */
export function ViewHead({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="head">
      <h1>{title}</h1>
      {children}
    </div>
  )
}
