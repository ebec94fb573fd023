// A list of any length of which only what is seen is in the page. One option is selected; the list keeps the focus, and
// says which option is meant.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'

export interface VirtualListProps<Item> {
  readonly label: string
  readonly items: readonly Item[]
  readonly rowPx: number
  readonly idOf: (item: Item) => string
  readonly selected: string | undefined
  readonly onSelect: (item: Item) => void
  /** Rows are drawn again when this is another function. */
  readonly draw: (item: Item) => ComponentChild
  /** More at the end is loaded when it comes into sight. */
  readonly onEnd?: (() => void) | undefined
  readonly className?: string
}

/** Rows above and below the visible ones, so that a fast scroll shows no gap. */
const OVERSCAN = 12

export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, rowPx, idOf, selected, onSelect, draw, onEnd, className = '' } = props
  const element = useRef<HTMLDivElement>(null)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const list = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | undefined>(undefined)
  const options = {
    count: items.length,
    getScrollElement: () => element.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  }
  list.current ??= new Virtualizer(options)
  list.current.setOptions(options)
  useLayoutEffect(() => list.current?._didMount(), [])
  useLayoutEffect(() => list.current?._willUpdate())
  useLayoutEffect(() => list.current?.measure(), [rowPx])
  const at = useMemo(() => items.findIndex((item) => idOf(item) === selected), [items, selected])
  const drawn = useDrawn(draw)
  useEffect(() => {
    if (at >= 0) list.current?.scrollToIndex(at, { align: 'auto' })
  }, [selected, at >= 0])
  const seen = list.current.getVirtualItems()
  const lastSeen = seen.at(-1)?.index ?? 0
  useEffect(() => {
    if (onEnd && items.length > 0 && lastSeen >= items.length - 1) onEnd()
  }, [lastSeen, items.length, onEnd])
  const active =
    at >= 0 && seen.some(({ index }) => index === at) ? { 'aria-activedescendant': optionId(label, at) } : {}
  return (
    <div class={`list ${className}`} ref={element} role="listbox" aria-label={label} tabIndex={0} {...active}>
      <div class="list-space" role="presentation" style={{ height: `${list.current.getTotalSize()}px` }}>
        {seen.map(({ index, start }) => {
          const item = items[index]
          if (item === undefined) return null
          return (
            <div
              key={idOf(item)}
              id={optionId(label, index)}
              class="option"
              role="option"
              aria-selected={index === at}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)`, height: `${rowPx}px` }}
              onClick={() => onSelect(item)}
            >
              {drawn(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface Drawn<Item> {
  readonly draw: (item: Item) => ComponentChild
  readonly rows: ReadonlyMap<Item, ComponentChild>
}

/** Keeps the rows of visible items: a scroll draws only the new ones. */
function useDrawn<Item>(draw: (item: Item) => ComponentChild): (item: Item) => ComponentChild {
  const last = useRef<Drawn<Item>>({ draw, rows: new Map() })
  const known = last.current.draw === draw ? last.current.rows : new Map<Item, ComponentChild>()
  const rows = new Map<Item, ComponentChild>()
  last.current = { draw, rows }
  return (item) => {
    const row = known.get(item) ?? draw(item)
    rows.set(item, row)
    return row
  }
}

function optionId(label: string, index: number): string {
  return `${label.replaceAll(/\W+/g, '-')}-${index}`
}

/** The item `by` places after the selected one; the first or last at the ends, and the first if none is selected. */
export function stepBy<Item>(items: readonly Item[], at: number, by: number): Item | undefined {
  return items[at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by))]
}
