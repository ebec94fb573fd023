// The form that decides one request: approve, deny, or approve other arguments. It sends exactly the arguments on screen.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError, WaitingApproval } from './api.ts'
import { findJsonIssues } from './json-issues.ts'
import { Difference, Failure, Json } from './parts.tsx'
import { asApiError, useShortcuts, useStore } from './store.ts'

export interface DecisionFormProps {
  readonly request: WaitingApproval
  /** Called with what was decided, in words. */
  readonly decided: (words: string) => void
}

type Decision = 'approve' | 'deny' | 'edit'
const PAST: Readonly<Record<Decision, string>> = { approve: 'approved', deny: 'denied', edit: 'changed and approved' }

export function DecisionForm({ request, decided }: DecisionFormProps) {
  const store = useStore()
  const original = JSON.stringify(request.input, null, 2)
  const [text, setText] = useState<string | undefined>(undefined)
  const [note, setNote] = useState('')
  const [reason, setReason] = useState('')
  const [isSent, setSent] = useState(false)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  const schema = useSchema(request)
  const approve = useRef<HTMLButtonElement>(null)
  const deny = useRef<HTMLButtonElement>(null)
  const isEdit = text !== undefined
  const issues = isEdit ? findJsonIssues(text, schema) : []
  const may = store.may('decide')
  useShortcuts(
    may
      ? [
          { keys: 'a', does: 'To the button that approves', run: () => approve.current?.focus() },
          { keys: 'd', does: 'To the button that denies', run: () => deny.current?.focus() },
          { keys: 'e', does: 'Edit the arguments', run: () => setText(text ?? original) },
        ]
      : [],
  )
  const decide = async (decision: Decision): Promise<void> => {
    setSent(true)
    setFailure(undefined)
    const body = {
      decision,
      ...(decision === 'edit' && { input: JSON.parse(text ?? original) as unknown }),
      ...(note !== '' && { note }),
      ...(decision === 'deny' && reason !== '' && { reason }),
    }
    try {
      await store.api.decide(request.session, request.approvalId, body)
      const words = `${PAST[decision]} by ${store.me.value?.principal.id ?? 'you'}`
      decided(words)
      store.tell(words)
    } catch (cause) {
      setFailure(asApiError(cause))
      setSent(false)
    }
  }
  return (
    <section class="part decision">
      <h3>Arguments</h3>
      {isEdit ? (
        <Editor text={text} original={original} issues={issues} set={setText} />
      ) : (
        <Json value={request.input} />
      )}
      {may ? (
        <>
          <button type="button" class="quiet" onClick={() => setText(isEdit ? undefined : original)}>
            {isEdit ? 'Undo the edit' : 'Edit the arguments'} {!isEdit && <kbd>e</kbd>}
          </button>
          <label>
            Note for people
            <input value={note} maxLength={4096} onInput={({ currentTarget }) => setNote(currentTarget.value)} />
          </label>
          <label>
            Reason for the model, if you deny it
            <input value={reason} maxLength={4096} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
          </label>
          {failure && <Failure error={failure} />}
          <div class="buttons">
            <button ref={deny} type="button" class="danger" disabled={isSent} onClick={() => void decide('deny')}>
              Deny
            </button>
            <button
              ref={approve}
              type="button"
              class="primary"
              disabled={isSent || issues.length > 0}
              onClick={() => void decide(isEdit && text !== original ? 'edit' : 'approve')}
            >
              {isEdit && text !== original ? 'Approve the change' : 'Approve'}
            </button>
          </div>
          <p class="muted">
            The log will name you: <b>{store.me.value?.principal.id}</b>.
          </p>
        </>
      ) : (
        <p class="muted">You may see this request and not decide it.</p>
      )}
    </section>
  )
}

interface EditorProps {
  readonly text: string
  readonly original: string
  readonly issues: readonly string[]
  readonly set: (text: string) => void
}

function Editor({ text, original, issues, set }: EditorProps) {
  const element = useRef<HTMLTextAreaElement>(null)
  useEffect(() => element.current?.focus(), [])
  return (
    <>
      <textarea
        ref={element}
        class="code"
        aria-label="Arguments as JSON"
        aria-invalid={issues.length > 0}
        aria-describedby="argument-issues"
        spellcheck={false}
        rows={Math.min(16, text.split('\n').length + 1)}
        value={text}
        onInput={({ currentTarget }) => set(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <ul id="argument-issues" class="issues" aria-live="polite">
        {issues.map((issue) => (
          <li key={issue}>{issue}</li>
        ))}
      </ul>
      <Difference label="Change of the arguments" before={original} after={text} />
    </>
  )
}

/** The schema of the tool in the newest request to the model. */
function useSchema(request: WaitingApproval): unknown {
  const { api } = useStore()
  const [schema, setSchema] = useState<unknown>(undefined)
  useEffect(() => void findSchema(api, request).then(setSchema, () => {}), [request.approvalId])
  return schema
}

async function findSchema(
  api: ReturnType<typeof useStore>['api'],
  { session, name, path = [] }: WaitingApproval,
): Promise<unknown> {
  const below = path.map(({ callId }) => callId)
  const { records } = await api.log(session, { last: RECORDS_READ }, below)
  const began = records.flatMap(({ facts }) => facts).findLast((fact) => fact.type === 'model-started')
  if (!began) return undefined
  const { request } = await api.request(session, began.attempt, below)
  return request.tools.find((tool) => tool.name === name)?.inputSchema
}
const RECORDS_READ = 200
