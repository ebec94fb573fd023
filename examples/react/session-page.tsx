// A session in a page: messages that appear while they are written, a tool that runs in the page, and buttons for each
// approval.
import { useSession } from '@baton/client/react'

export function Chat({ id }: { readonly id: string }) {
  const { messages, approvals, status, send, decide } = useSession({
    url: 'ws://127.0.0.1:8080/ws',
    session: id,
    tools: { 'page.place': () => ({ section: document.title }) },
  })
  return (
    <form
      action={(form) => {
        const text = form.get('text')
        if (typeof text === 'string') send(text)
      }}
    >
      {messages.map((message) => (
        <p key={message.id}>
          {message.role === 'user'
            ? message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ')
            : message.steps.map((step) => step.text).join('\n')}
        </p>
      ))}
      {approvals.map(({ approvalId, name }) => (
        <button key={approvalId} type="button" onClick={() => void decide({ approvalId, decision: 'approve' })}>
          Allow {name}
        </button>
      ))}
      <input name="text" required disabled={status === 'closed'} />
    </form>
  )
}
