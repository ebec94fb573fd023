// The only page: it shows the address of the chat.
export default function Page() {
  return <p>The chat is at /api/chat.</p>
}
