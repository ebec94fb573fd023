// Two sessions side by side, without their ids and times: what one did and the other did not.
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { ViewHead } from './app.tsx'
import { compareLines, pairLines } from './line-diff.ts'
import type { DiffPair } from './line-diff.ts'
import { Empty, Failure, SIGNS, Text } from './parts.tsx'
import { listSessionLines } from './record-lines.ts'
import { readWholeLog } from './replay-view.tsx'
import { formatRoute } from './route.ts'
import { showHidden, showLine } from './shown-text.ts'
import { asApiError, useShortcuts, useStore } from './store.ts'
import { stepBy, VirtualList } from './virtual-list.tsx'

interface Pair extends DiffPair {
  readonly id: string
}
const ROW_PX = 22

export function CompareView({ session, other }: { readonly session: string; readonly other: string }) {
  const { api } = useStore()
  const [pairs, setPairs] = useState<readonly Pair[] | undefined>(undefined)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  const [selected, select] = useState<string | undefined>(undefined)
  useEffect(() => {
    Promise.all([readWholeLog(api, session), readWholeLog(api, other)]).then(
      ([one, two]) => {
        const lines = compareLines(listSessionLines(one), listSessionLines(two))
        setPairs(pairLines(lines ?? []).map((pair, index) => ({ ...pair, id: String(index) })))
      },
      (cause: unknown) => setFailure(asApiError(cause)),
    )
  }, [session, other])
  const pair = pairs?.find(({ id }) => id === selected)
  const changed = (pairs ?? []).filter(({ left, right }) => left !== right)
  const at = changed.findIndex(({ id }) => id === selected)
  useShortcuts([
    { keys: 'j', does: 'Next difference', run: () => select(stepBy(changed, at, 1)?.id) },
    { keys: 'k', does: 'Previous difference', run: () => select(stepBy(changed, at, -1)?.id) },
  ])
  return (
    <section class="view">
      <ViewHead title="Compare">
        <p class="muted">{pairs ? `${changed.length} of ${pairs.length} lines differ` : ''}</p>
      </ViewHead>
      <div class="compare-heads">
        {[session, other].map((id) => (
          <a key={id} href={formatRoute({ view: 'session', session: id, tab: 'timeline' })}>
            {showLine(id, 80)}
          </a>
        ))}
      </div>
      {failure && <Failure error={failure} />}
      {pairs?.length === 0 && (
        <Empty title="There is nothing to compare.">The sessions are empty, or too different.</Empty>
      )}
      {pairs && pairs.length > 0 && (
        <VirtualList
          label="Lines of both sessions"
          className="compare"
          items={pairs}
          rowPx={ROW_PX}
          idOf={idOf}
          selected={selected}
          onSelect={({ id }) => select(id)}
          draw={drawPair}
        />
      )}
      {pair && (
        <div class="compare-detail" role="region" aria-label="Selected lines" tabIndex={0}>
          {[pair.left, pair.right].map((line, index) => (
            <Text key={index} text={line?.text.trim() ?? ''} />
          ))}
        </div>
      )}
    </section>
  )
}

const idOf = ({ id }: Pair): string => id
const drawPair = (pair: Pair) => <Line pair={pair} />

function Line({ pair: { left, right } }: { readonly pair: Pair }) {
  return (
    <div class="compare-line">
      {[left, right].map((line, index) => (
        <div key={index} class={`line is-${line?.type ?? 'none'}`}>
          <span class="sign">{line ? SIGNS[line.type] : ''}</span>
          <span>{showHidden(line?.text ?? '')}</span>
        </div>
      ))}
    </div>
  )
}
