import { browserTransport, ReviewerClient } from '@gatehouse/client/browser';
import { ActivityView } from './activity-view';
import { Announcer } from './announcer';
import { ApprovalsView } from './approvals-view';
import { enter, socketAddress } from './door';
import { button, el, errorText, foreign } from './dom';
import { ExplainPage } from './explain-page';
import { GrantsPage } from './grants-page';
import { ProfilesPage } from './profiles-page';
import { SessionsPage } from './sessions-page';

let client: ReviewerClient | undefined;
const present = () => client;

const announcer = new Announcer();
const state = el('p', { class: 'state', role: 'status' }, 'connecting…');
const count = el('span', { class: 'count', hidden: true });
const approvals = new ApprovalsView(announcer, (waiting) => {
  count.textContent = String(waiting);
  count.hidden = waiting === 0;
  document.title = waiting === 0 ? 'Gatehouse' : `(${waiting}) Gatehouse`;
});
const activity = new ActivityView();
const sessions = new SessionsPage(present, announcer);
const explain = new ExplainPage(present);
const profiles = new ProfilesPage(present);
const grants = new GrantsPage(present, announcer);

const pages: { name: string; element: HTMLElement; refresh?: () => Promise<void> }[] = [
  { name: 'Approvals', element: approvals.element },
  { name: 'Activity', element: activity.element },
  { name: 'Sessions', element: sessions.element, refresh: () => sessions.refresh() },
  { name: 'Explain', element: explain.element, refresh: () => explain.refresh() },
  { name: 'Profiles', element: profiles.element, refresh: () => profiles.refresh() },
  { name: 'Grants', element: grants.element, refresh: () => grants.refresh() },
];
let shown = 0;

const tabs = pages.map((page, index) =>
  button(page.name, () => show(index), { 'aria-keyshortcuts': String(index + 1) }),
);
tabs[0]?.append(count);

function show(index: number): void {
  shown = index;
  pages.forEach((page, at) => {
    page.element.hidden = at !== index;
    if (at === index) tabs[at]?.setAttribute('aria-current', 'page');
    else tabs[at]?.removeAttribute('aria-current');
  });
  refresh();
}

function refresh(): void {
  if (client?.connected) void pages[shown]?.refresh?.();
}

function setState(text: string, kind: string): void {
  state.textContent = text;
  state.className = `state ${kind}`;
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
  const target = event.target as HTMLElement;
  if (target.closest('.terminal-frame')) return; // the session's
  if (target.closest('input, textarea, select')) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  const page = Number(event.key);
  if (page >= 1 && page <= pages.length) show(page - 1);
  else if (shown !== 0 || !approvals.press(event.key)) return;
  event.preventDefault();
});

document.body.append(
  el(
    'header',
    { class: 'bar' },
    el('span', { class: 'brand' }, 'Gatehouse'),
    el('nav', { 'aria-label': 'Pages' }, ...tabs),
    state,
  ),
  el('main', {}, ...pages.map((page) => page.element)),
  announcer.element,
);
show(0);

async function connect(): Promise<void> {
  const connected = await ReviewerClient.connect({
    clientInfo: { name: 'gatehouse-console' },
    transport: browserTransport(socketAddress()),
    reconnect: { firstDelayMs: 200, maxDelayMs: 3000 },
    // Answers go by approval/resolve, which says why one was not taken; this only shows the question.
    approvals: (question, over) => {
      const show = () => client && approvals.add(question, client);
      if (client) show();
      else waiting.push(show);
      over.addEventListener('abort', () => approvals.remove(question.requestId), { once: true });
      return Promise.resolve(undefined);
    },
  });
  client = connected;
  for (const show of waiting.splice(0)) show();
  setState('connected', 'good');
  activity.listen(connected);
  sessions.listen(connected);
  connected.on('connected', ({ renewed }) => {
    setState('connected', 'good');
    if (renewed) announcer.say('Connected again. The daemon was started anew: its former threads are gone.');
    refresh();
  });
  connected.on('disconnected', ({ reason }) => setState(`not connected: ${reason}; trying again`, 'bad'));
  connected.on('closed', ({ error }) => setState(error ? error.message : 'closed', 'bad'));
  refresh();
}
const waiting: (() => unknown)[] = [];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(): Promise<void> {
  try {
    await enter();
  } catch (error) {
    setState('not admitted', 'bad');
    document.querySelector('main')?.prepend(
      el(
        'p',
        { class: 'problem', role: 'alert' },
        foreign(errorText(error)),
        ' Open the link that `gatehouse serve --console` printed last.',
      ),
    );
  }
  for (let attempt = 1; ; ++attempt) {
    try {
      return await connect();
    } catch (error) {
      setState(`${errorText(error)}; trying again`, 'bad');
      await pause(Math.min(3000, 250 * 2 ** attempt));
    }
  }
}
void start();
