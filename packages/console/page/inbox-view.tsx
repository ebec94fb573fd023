// Everything that waits for a person, in all sessions, and the decision: with the difference, other arguments, and a note.
import { useEffect, useState } from 'preact/hooks'
import { formatAgo, formatDuration } from './amounts.ts'
import type { ApiError, WaitingApproval } from './api.ts'
import { ViewHead } from './app.tsx'
import { DecisionForm } from './decision-form.tsx'
import { Difference, Empty, Failure, Field, Json, Source, StateMark } from './parts.tsx'
import { findOutcome, findTaint, keepRequests } from './inbox-requests.ts'
import type { KeptRequest } from './inbox-requests.ts'
import type { Route } from './route.ts'
import { formatRoute } from './route.ts'
import { showHidden, showLine } from './shown-text.ts'
import { asApiError, useShortcuts, useStore } from './store.ts'
import type { TaintSource } from './timeline-row.ts'
import { stepBy, VirtualList } from './virtual-list.tsx'

type InboxRoute = Extract<Route, { readonly view: 'inbox' }>
const ROW_PX = 64

export function InboxView({ route }: { readonly route: InboxRoute }) {
  const store = useStore()
  const { inbox, inboxLoaded } = store
  const [kept, setKept] = useState<readonly KeptRequest[]>([])
  const requests = keepRequests(inbox.value, kept)
  useEffect(() => setKept(requests), [inbox.value])
  useOutcomes(requests, setKept)
  const at = requests.findIndex(
    ({ request }) => request.session === route.session && request.approvalId === route.approval,
  )
  const selected = requests[at]
  const show = (one: KeptRequest | undefined): void =>
    store.go(
      { view: 'inbox', ...(one && { session: one.request.session, approval: one.request.approvalId }) },
      'replace',
    )
  useShortcuts([
    { keys: 'j', does: 'Next request', run: () => show(stepBy(requests, at, 1)) },
    { keys: 'k', does: 'Previous request', run: () => show(stepBy(requests, at, -1)) },
    { keys: 'ArrowDown', does: 'Next request', run: () => show(stepBy(requests, at, 1)) },
    { keys: 'ArrowUp', does: 'Previous request', run: () => show(stepBy(requests, at, -1)) },
    { keys: 'Escape', does: 'Back to the list', run: () => show(undefined) },
  ])
  const decided = (words: string): void =>
    setKept(keepRequests(inbox.value, kept).map((one) => (one.id === selected?.id ? { ...one, outcome: words } : one)))
  const waiting = requests.filter(({ outcome }) => outcome === undefined).length
  return (
    <section class="view">
      <ViewHead title="Inbox">
        <p class="muted">{waiting === 1 ? '1 request waits' : `${waiting} requests wait`} for a person</p>
      </ViewHead>
      {requests.length === 0 ? (
        <Empty title={inboxLoaded.value ? 'Nothing waits for a person.' : 'Reading the inbox…'}>
          {inboxLoaded.value && 'A call that needs an approval appears here at once, from whichever process runs it.'}
        </Empty>
      ) : (
        <div class={`split ${selected ? 'has-detail' : ''}`}>
          <VirtualList
            label="Requests"
            className="inbox"
            items={requests}
            rowPx={ROW_PX}
            idOf={({ id }) => id}
            selected={selected?.id}
            onSelect={show}
            draw={(one) => <RequestRow kept={one} nowMs={store.nowMs.value} />}
          />
          {selected && <Detail key={selected.id} kept={selected} close={() => show(undefined)} decided={decided} />}
        </div>
      )}
    </section>
  )
}

/** Reads from the log who decided the requests that left the inbox. */
function useOutcomes(
  requests: readonly KeptRequest[],
  set: (change: (kept: readonly KeptRequest[]) => readonly KeptRequest[]) => void,
): void {
  const { api } = useStore()
  const unknown = requests.filter(({ isGone, outcome }) => isGone && outcome === undefined)
  const key = unknown.map(({ id }) => id).join(' ')
  useEffect(() => {
    let isOver = false
    for (const { id, request } of unknown)
      void findOutcome(api, request).then((outcome) => {
        if (!isOver) set((kept) => kept.map((one) => (one.id === id ? { ...one, outcome } : one)))
      })
    return () => void (isOver = true)
  }, [key])
}

function RequestRow({
  kept: { request, outcome, isGone },
  nowMs,
}: {
  readonly kept: KeptRequest
  readonly nowMs: number
}) {
  const { title, name, agent, principal, askedMs, expiresAtMs, asked } = request
  const leftMs = expiresAtMs - nowMs
  return (
    <div class={`request-row ${isGone ? 'is-gone' : ''}`}>
      <StateMark state={isGone ? 'info' : 'person'} isNamed={false} />
      <div class="session-name">
        <b>{showLine(title ?? name, 100)}</b>
        <span class="muted">
          {outcome ?? `${showLine(agent, 30)} for ${showLine(principal.id, 30)}, ${formatAgo(askedMs, nowMs)}`}
        </span>
      </div>
      <div class="request-tags">
        {(asked?.untrusted?.length ?? 0) > 0 && <span class="tainted">tainted</span>}
        {!isGone && (
          <span class={leftMs < SOON_MS ? 'soon' : 'muted'}>
            {leftMs > 0 ? `${formatDuration(leftMs)} left` : 'expires'}
          </span>
        )}
      </div>
    </div>
  )
}

const SOON_MS = 120_000

interface DetailProps {
  readonly kept: KeptRequest
  readonly close: () => void
  readonly decided: (words: string) => void
}

function Detail({ kept, close, decided }: DetailProps) {
  const { api } = useStore()
  const [whole, setWhole] = useState<WaitingApproval>(kept.request)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  useEffect(() => {
    // The list has no room for everything.
    const { cut: _, ...listed } = kept.request
    api.approval(listed.session, listed.approvalId).then(
      (found) => setWhole({ ...listed, ...found }),
      (cause: unknown) => setFailure(asApiError(cause)),
    )
  }, [])
  const { session, name, title, diff, input } = whole
  const isWhole = whole.cut !== true
  return (
    <aside class="inspector" aria-label="Request">
      <div class="inspector-head">
        <StateMark state={kept.isGone ? 'info' : 'person'} isNamed={false} />
        <h2>{showLine(title ?? name, 120)}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </div>
      <div class="inspector-body" tabIndex={0} role="region" aria-label="Details">
        {kept.outcome !== undefined && <p class="where-one">{showLine(kept.outcome, 400)}</p>}
        <Facts request={whole} />
        <Taint request={whole} />
        {(diff ?? []).map(({ path, oldText, newText }) => (
          <section class="part" key={path}>
            <h3>{showLine(path, 120)}</h3>
            <Difference label={`Change of ${path}`} before={oldText ?? ''} after={newText} />
          </section>
        ))}
        {kept.isGone ? (
          <section class="part">
            <h3>Arguments</h3>
            {isWhole ? <Json value={input} /> : <p class="muted">The list has no room for them.</p>}
          </section>
        ) : !isWhole ? (
          <section class="part">
            <h3>Arguments</h3>
            {failure ? <Failure error={failure} /> : <p class="muted">Reading the arguments…</p>}
            <p class="muted">Nobody decides what they cannot see.</p>
          </section>
        ) : (
          <DecisionForm request={whole} decided={decided} />
        )}
        <p>
          <a
            href={formatRoute({
              view: 'session',
              session,
              tab: 'timeline',
              row:
                whole.path === undefined
                  ? whole.callId
                  : [...whole.path.map(({ callId }) => callId), whole.callId].join('/'),
            })}
          >
            Open in the session
          </a>
        </p>
      </div>
    </aside>
  )
}

function Facts({ request }: { readonly request: WaitingApproval }) {
  const { nowMs } = useStore()
  const { name, kind, agent, principal, session, path, destination, asked, expiresAtMs, deciders, given, locations } =
    request
  const who = [...(deciders?.people ?? []), ...(deciders?.roles ?? []).map((role) => `every ${role}`)].join(', ')
  const leftMs = expiresAtMs - nowMs.value
  return (
    <dl class="fields">
      <Field name="Tool">
        <span class="mono">{showLine(name, 100)}</span>
        {kind === undefined ? '' : ` (${kind})`}
      </Field>
      <Field name="Asked by">{`${showLine([agent, ...(path ?? []).map((step) => step.agent)].join(' › '), 120)}, for ${showLine(principal.id, 80)}`}</Field>
      <Field name="Session">
        <a href={formatRoute({ view: 'session', session, tab: 'timeline' })}>{showLine(session, 80)}</a>
      </Field>
      {destination !== undefined && <Field name="To">{showLine(destination, 300)}</Field>}
      {locations && (
        <Field name="Places">
          {locations
            .map(({ path: place, line }) => `${showHidden(place)}${line === undefined ? '' : `:${line}`}`)
            .join(', ')}
        </Field>
      )}
      {asked && <Field name="Why it asks">{showLine(asked.message, 500)}</Field>}
      <Field name="Expires">{leftMs > 0 ? `in ${formatDuration(leftMs)}; then it is denied` : 'now'}</Field>
      {deciders && (
        <Field name="Who decides">{`${who === '' ? 'another person than the asker' : showLine(who, 300)}${(deciders.needed ?? 1) > 1 ? `; ${deciders.needed} have to approve` : ''}`}</Field>
      )}
      {given && given.length > 0 && (
        <Field name="Approved by">{given.map(({ id }) => showLine(id, 60)).join(', ')}</Field>
      )}
    </dl>
  )
}

/** Lists untrusted results behind the request, from the policy that asks and from the log. */
function Taint({ request }: { readonly request: WaitingApproval }) {
  const store = useStore()
  const { session, asked } = request
  const [sources, setSources] = useState<readonly TaintSource[]>([])
  useEffect(() => {
    if (store.may('see')) findTaint(store.api, request).then(setSources, () => {})
  }, [])
  const { untrusted = [], copied = [] } = asked ?? {}
  const named = untrusted.filter((name) => !sources.some((source) => source.name === name))
  if (sources.length === 0 && untrusted.length === 0 && copied.length === 0) return null
  return (
    <section class="part warning">
      <h3>Strangers may have a hand in it</h3>
      <p>The model had read results that strangers may have written:</p>
      <ul>
        {sources.map((source) => (
          <Source key={source.row} source={source} session={session} />
        ))}
        {named.map((name) => (
          <li key={name}>{showLine(name, 60)}</li>
        ))}
      </ul>
      {copied.length > 0 && <p>Parts of the arguments come from there:</p>}
      {copied.map((piece, index) => (
        <Json key={index} value={piece} />
      ))}
    </section>
  )
}
