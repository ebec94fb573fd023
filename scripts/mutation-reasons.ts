// Reasons why a mutant of the session machine may survive, matched by its file and its change. The first match counts.

export interface MutationReason {
  /** A file of the machine; if absent, any file. */
  readonly file?: string
  /** The code that the mutant replaces. */
  readonly from: RegExp
  /** The replacement; if absent, any replacement. */
  readonly to?: RegExp
  readonly reason: string
}

const ALWAYS = 'equivalent: it is always present in this phase; the check is for the types'
const NEVER = 'equivalent: the default of a value that is always present'
const ABSENT = 'equivalent: an undefined field is not stored'
const GENERATION = 'equivalent: one record never sets two such timers, so their generations differ'
const WORDING = 'the wording of a message, which no code branches on'
const CLOSED = 'unreachable: the compiler proves that there is no other case'
const PASSING = 'equivalent: a later fact of the same record sets the phase'
const BOUNDARY = 'equivalent: both give the same result at the boundary'
const INITIAL = 'equivalent: the first record sets it'
const UNREAD = 'equivalent: the value is not read in this case'

export const MUTATION_REASONS: readonly MutationReason[] = [
  { from: /satisfies never/, reason: CLOSED },
  { from: /^default: (return undefined|break)$/, reason: CLOSED },
  { file: 'calls.ts', from: /^!state\.step$/, reason: ALWAYS },
  {
    file: 'calls.ts',
    from: /^fact\.reason === 'late'$/,
    reason: 'equivalent: only a call with an outstanding late result has anything to forget',
  },
  {
    file: 'calls.ts',
    from: /fact\.decision === 'deny'|^'deny'$/,
    reason: 'equivalent: a denied call settles by the next fact',
  },
  { file: 'window.ts', from: /^'modelling'$/, reason: PASSING },
  { file: 'turn.ts', from: /^'modelling'$|state\.phase === 'modelling'/, reason: PASSING },
  { file: 'apply.ts', from: /^'modelling'$|^state\.step === null$/, reason: PASSING },
  {
    file: 'window.ts',
    from: /^\(note\) => !told\.has/,
    reason: 'equivalent: all waiting notes enter at once',
  },
  {
    file: 'window.ts',
    from: /entry\.role !== 'step'|entry\.step === undefined/,
    reason: 'equivalent: only steps have a number, so only they are found by it',
  },
  {
    file: 'window.ts',
    from: /^entry\.entry [<>]= fact\.(from|to)Entry$/,
    reason: 'only the exchange of a summary is read from it, and that is the same',
  },
  {
    file: 'history.ts',
    from: /^entry\.entry [<>]= fact\.(from|to)Entry$|^-1$/,
    reason: 'only the exchange of a summary is read from it, and that is the same',
  },
  { file: 'window.ts', from: /^'none'$/, reason: UNREAD },
  { file: 'turn.ts', from: /^'(step|held)'$|^false$|^fact\.deadlineMs - state\.nowMs$/, reason: UNREAD },
  {
    file: 'calls.ts',
    from: /^'stay'$|^default: break$/,
    reason: 'equivalent: every other outcome does nothing here',
  },
  {
    file: 'advance.ts',
    from: /^holderOf\(draft\.state\) !== undefined$|^!client$/,
    reason: 'equivalent: the presence of a client is checked twice',
  },
  { file: 'check.ts', from: /^['`].*['`]$/, reason: WORDING },
  {
    file: 'check.ts',
    from: /^!\('inputId' in input\)$/,
    reason: 'equivalent: no remembered input has an undefined id',
  },
  {
    file: 'check.ts',
    from: /^entry\.role === 'user'$/,
    reason: 'an exchange whose user message went into a summary: the rewind would not ask anything again',
  },
  {
    file: 'calls.ts',
    from: /^call\.offer\?\.connection$/,
    reason: 'equivalent: an offered or claimed call has an offer',
  },
  { file: 'size.ts', from: /[<>]=/, reason: BOUNDARY },
  {
    file: 'history.ts',
    from: /progress|model-started|attempt: 0/,
    reason: 'equivalent: an attempt’s first progress begins at 0',
  },
  { file: 'history.ts', from: /missing|^'unknown'$/, reason: 'unreachable: a step closes when every call has settled' },
  { file: 'history.ts', from: /^candidate\.type === 'call'$/, reason: 'equivalent: only calls have a call id' },
  {
    file: 'history.ts',
    from: /^part\.type === 'call'$|^'call'$|^part\.type === 'provider' \|\| part\.type === 'call'$/,
    reason: 'equivalent: an answer with calls has results and never gets here',
  },
  {
    file: 'history.ts',
    from: /notes\.delete/,
    reason: 'memory only: the body of a note that left the window is kept',
  },
  { file: 'record.ts', from: /^birth === ''$/, reason: 'equivalent: without a birth nothing is replaced' },
  {
    file: 'render.ts',
    from: /^\/.*\/g$/,
    reason: 'equivalent: the blanks around each line break match the next one as well',
  },
  {
    file: 'calls.ts',
    from: /^callOutcome\(call, 'result'\) === 'accept'$|^call && callOutcome/,
    reason: 'equivalent: a call without an offer has no holder that may answer',
  },
  {
    file: 'calls.ts',
    from: /^answers > holds$/,
    reason: 'equivalent: they differ, because the holder itself returned earlier',
  },
  {
    file: 'calls.ts',
    from: /^''$|^false$|^settlement === (null|undefined)/,
    reason: 'equivalent: without a settlement the result is unknown and the value unused',
  },
  { file: 'control.ts', from: /^timer === '(retry|interrupt|grace|batch)'$/, reason: GENERATION },
  {
    file: 'control.ts',
    from: /^state\.phase === 'interrupting'$/,
    reason: 'equivalent: outside that phase the following call does nothing',
  },
  {
    file: 'answer.ts',
    from: /^'model-failed'$/,
    reason: 'equivalent: only the attempt and error of this input are read',
  },
  {
    file: 'state.ts',
    from: /step\?\.calls|^\[\]$/,
    to: /calls|^\[\]$|^\{\}$/,
    reason: 'openCalls is used only by explored conversations and hosts',
  },
  { file: 'state.ts', from: /^\[\]$/, reason: 'no id finds a stray first element of these lists' },
  { file: 'state.ts', from: /^''$|^false$/, reason: INITIAL },
  { file: 'table.ts', from: /^\{ quiet: true \}$|^true$/, reason: 'equivalent: a cell without an action is quiet' },
  {
    file: 'turn.ts',
    from: /^call\.state === 'ready'$/,
    reason: 'equivalent: the interrupt has ended all other calls already',
  },
  { file: 'turn.ts', from: /^turn$|^!turn$/, reason: ALWAYS },
  {
    file: 'window.ts',
    from: /^exchanges\.length - 1$|[<>]=? |^first && last$|^actAt === undefined$/,
    reason: BOUNDARY,
  },
  {
    file: 'window.ts',
    from: /^entry\.exchange === current$|overheadTokens/,
    reason: 'how much is summarised, not whether it fits',
  },
  { from: / !== undefined$/, to: /^true$/, reason: ABSENT },
  { from: /\?\.|^!\w+( \|\| !\w+)*$/, reason: ALWAYS },
  { from: /^(\[\]|''|0|false)$/, reason: NEVER },
]
