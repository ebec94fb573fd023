// Requests that wait for a person, approvals and questions, as session events open and close them. Fronts that show open
// requests read them here.
import type { EventBody } from './session-event.ts'

type BodyOf<Type extends EventBody['type']> = Extract<EventBody, { readonly type: Type }>

/** The change of a request by an event. `callId` is the call that asks. */
export type RequestChange = { readonly id: string; readonly callId: string } & (
  | { readonly type: 'approval'; readonly asked: BodyOf<'approval-requested'> }
  | { readonly type: 'question'; readonly asked: BodyOf<'question-asked'> }
  | { readonly type: 'over' }
)

/** Undefined for events that neither open nor close a request. The end of a call also closes its requests. */
export function readRequest(event: EventBody): RequestChange | undefined {
  switch (event.type) {
    case 'approval-requested':
      return { type: 'approval', id: event.approvalId, callId: event.call.callId, asked: event }
    case 'question-asked':
      return { type: 'question', id: event.questionId, callId: event.callId, asked: event }
    case 'approval-decided':
      return { type: 'over', id: event.approvalId, callId: event.callId }
    case 'question-answered':
      return { type: 'over', id: event.questionId, callId: event.callId }
    case 'request-withdrawn':
      return { type: 'over', id: event.requestId, callId: event.callId }
    default:
      return undefined
  }
}
