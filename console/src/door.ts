/** Where the page stands: everything that belongs to it is below. */
const folder = new URL('.', location.href);

/**
 * Trades the key of a one-time link (`…/#key`) for the cookie that carries a reviewer's authority.
 * The key stands in the fragment, which browsers neither send nor log; it leaves the address at once.
 */
export async function enter(): Promise<void> {
  const key = location.hash.slice(1);
  if (key === '') return;
  history.replaceState(null, '', folder.href);
  const answer = await fetch(new URL('enter', folder), { method: 'POST', body: key, credentials: 'same-origin' });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
}

export function socketAddress(): string {
  const address = new URL('socket', folder);
  address.protocol = 'ws:';
  return address.href;
}
