// Requirements that a measurement decides: size, orientation, format, movement, bytes. Only requirements without any
// other content match; the rest goes to a model, together with the measurements.
import type { Measured } from './measure-image.ts'

export interface Decision {
  readonly isMet: boolean
  readonly reason: string
}

interface Rule {
  readonly pattern: RegExp
  readonly decide: (image: Measured, found: readonly string[]) => Decision
}

const SUBJECT = String.raw`(?:(?:the |an? )?(?:image|picture|photo|file|it|size|resolution|dimensions?)(?:'s)?(?: size| resolution| format)? ?)?`
const VERB = String.raw`(?:(?:is|are|has|have|must be|should be|must have|has to be|of) )?`
const BOUND = String.raw`(at least|no less than|min(?:imum|\.)?(?: of)?|>=|at most|no more than|max(?:imum|\.)?(?: of)?|<=|exactly|=)`
const UNIT = String.raw` ?(?:px|pixels?)?`
const KINDS = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' } as const
const UNITS: Readonly<Record<string, number>> = { kb: 1000, kib: 1024, mb: 1_000_000, mib: 1_048_576, bytes: 1 }

const RULES: readonly Rule[] = [
  {
    pattern: rule(`${BOUND} (\\d{1,6})${UNIT} ?[x×] ?(\\d{1,6})${UNIT}`),
    decide: ({ width, height }, [bound = '', wide, high]) => ({
      isMet: compare(width, bound, Number(wide)) && compare(height, bound, Number(high)),
      reason: `the picture has ${width} x ${height} pixels`,
    }),
  },
  {
    pattern: rule(`${BOUND} (\\d{1,6})${UNIT} (wide|high|tall|in width|in height)`),
    decide: (image, [bound = '', pixels, side = '']) => decideSide(image, /wid/i.test(side), bound, Number(pixels)),
  },
  {
    pattern: new RegExp(
      `^(?:the )?(?:(?:image|picture|photo)(?:'s)? )?(width|height) ${VERB}${BOUND} ?(\\d{1,6})${UNIT}$`,
      'i',
    ),
    decide: (image, [side = '', bound = '', pixels]) => decideSide(image, /width/i.test(side), bound, Number(pixels)),
  },
  {
    pattern: rule(String.raw`(?:in )?(?:an? )?(png|jpe?g|gif|webp)(?: (?:image|picture|file|format))?`),
    decide: ({ mediaType }, [kind = '']) => ({
      isMet: mediaType === KINDS[kind.toLowerCase() as keyof typeof KINDS], // matched by the pattern
      reason: `it is a ${mediaType} file`,
    }),
  },
  {
    pattern: rule('(not animated|animated|a still(?: image| picture)?)'),
    decide: ({ animated }, [said = '']) => ({
      isMet: animated === /^animated/i.test(said),
      reason: animated ? 'it has several frames' : 'it has one frame',
    }),
  },
  {
    pattern: rule('(?:in )?(landscape|portrait|square)(?: format| orientation)?'),
    decide: ({ width, height }, [said = '']) => ({
      isMet: said.toLowerCase() === (width > height ? 'landscape' : width < height ? 'portrait' : 'square'),
      reason: `the picture has ${width} x ${height} pixels`,
    }),
  },
  {
    pattern: rule(`${BOUND} (\\d{1,6}(?:\\.\\d{1,3})?) ?(kb|kib|mb|mib|bytes)(?: large| big)?`),
    decide: ({ bytes }, [bound = '', count, unit = '']) => ({
      isMet: compare(bytes, bound, Number(count) * (UNITS[unit.toLowerCase()] ?? 1)),
      reason: `the file has ${bytes} bytes`,
    }),
  },
]

/** Returns `undefined` if a measurement cannot decide it. */
export function decideByMeasurement(requirement: string, image: Measured): Decision | undefined {
  const plain = requirement.slice(0, 200).replaceAll(/\s+/g, ' ').trim().replace(/[.!]$/, '')
  for (const { pattern, decide } of RULES) {
    const found = pattern.exec(plain)
    if (found) return decide(image, found.slice(1))
  }
  return undefined
}

function rule(rest: string): RegExp {
  return new RegExp(`^${SUBJECT}${VERB}${rest}$`, 'i')
}

function decideSide({ width, height }: Measured, isWidth: boolean, bound: string, pixels: number): Decision {
  const side = isWidth ? width : height
  return {
    isMet: compare(side, bound, pixels),
    reason: `the picture is ${side} pixels ${isWidth ? 'wide' : 'high'}`,
  }
}

function compare(actual: number, bound: string, asked: number): boolean {
  if (/^(?:at least|no less|min|>)/i.test(bound)) return actual >= asked
  return /^(?:at most|no more|max|<)/i.test(bound) ? actual <= asked : actual === asked
}
