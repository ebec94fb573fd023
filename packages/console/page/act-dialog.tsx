// An act asks once: what it does, and in whose name.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { Failure } from './parts.tsx'
import { showHidden, showLine } from './shown-text.ts'
import type { Asked } from './store.ts'
import { asApiError, useStore } from './store.ts'

export function ActDialog() {
  const { asked } = useStore()
  return asked.value ? <Question key={asked.value.title} asked={asked.value} /> : null
}

function Question({ asked }: { readonly asked: Asked }) {
  const store = useStore()
  const element = useRef<HTMLDialogElement>(null)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  const [runs, setRuns] = useState(false)
  useEffect(() => element.current?.showModal(), [])
  const close = (): void => void (store.asked.value = undefined)
  const act = async (): Promise<void> => {
    setRuns(true)
    try {
      store.tell(await asked.run())
      element.current?.close()
    } catch (cause) {
      setFailure(asApiError(cause))
    } finally {
      setRuns(false)
    }
  }
  const who = store.me.value?.principal.id ?? ''
  return (
    <dialog ref={element} class="ask" aria-labelledby="ask-title" onClose={close}>
      <h2 id="ask-title">{showLine(asked.title)}</h2>
      <p>{showHidden(asked.words)}</p>
      <p class="muted">
        This is done in your name, <b>{showLine(who, 60)}</b>, and logged.
      </p>
      {failure && <Failure error={failure} />}
      <div class="buttons">
        <button type="button" onClick={() => element.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={asked.isDangerous ? 'danger' : 'primary'}
          disabled={runs}
          onClick={() => void act()}
        >
          {asked.does}
        </button>
      </div>
    </dialog>
  )
}
