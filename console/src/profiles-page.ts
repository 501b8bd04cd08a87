import type { ReviewerClient } from '@gatehouse/client/browser';
import { badge, code, el, errorText, foreign } from './dom';
import { pathText, type Profile } from './model';

const groups: [string, string, string][] = [
  ['write', 'May read and change', 'allow'],
  ['read', 'May read', ''],
  ['none', 'Is closed', 'forbidden'],
];

function tree(profile: Profile): HTMLElement {
  const list = el('ul', { class: 'tree' });
  const files = profile.file_system;
  if (profile.type !== 'managed')
    list.append(el('li', {}, badge('no sandbox', 'forbidden'), ` ${profile.type}: nothing is held back`));
  else if (files?.type !== 'restricted')
    list.append(el('li', {}, badge('all files', 'allow'), ' every file may be read and changed'));
  for (const [access, title, kind] of groups) {
    const entries = (files?.entries ?? []).filter((entry) => entry.access === access || (access === 'none' && entry.access === 'deny'));
    if (entries.length === 0) continue;
    const branch = el('ul', {}, ...entries.map((entry) => el('li', {}, code(pathText(entry.path)))));
    list.append(el('li', {}, badge(title, kind), branch));
  }
  if (profile.network) list.append(el('li', {}, badge('Network', profile.network === 'enabled' ? 'allow' : 'forbidden'), ` ${profile.network}`));
  return list;
}

/** The profiles that can be named, as what they open and close. */
export class ProfilesPage {
  readonly element = el('section', { 'aria-label': 'Profiles', hidden: true });
  #list = el('div', { class: 'cards' });

  constructor(private readonly client: () => ReviewerClient | undefined) {
    this.element.append(el('h1', {}, 'Profiles'), this.#list);
  }

  async refresh(): Promise<void> {
    try {
      const profiles = (await this.client()?.listProfiles()) ?? [];
      this.#list.replaceChildren(
        ...profiles.map((one) =>
          el(
            'article',
            { class: 'card' },
            el('h2', {}, code(one.id)),
            el('p', { class: 'quiet' }, foreign(one.about)),
            tree(one.profile as Profile),
          ),
        ),
      );
    } catch (error) {
      this.#list.replaceChildren(el('p', { class: 'problem' }, foreign(errorText(error))));
    }
  }
}
