import type { ReviewerClient } from '@gatehouse/client/browser';
import { badge, code, el, errorText, foreign } from './dom';
import type { Profile } from './model';
import { placesOf, type Access, type Place } from './profile-tree';

const badges: Record<Access, [string, string]> = {
  write: ['may change', 'allow'],
  read: ['may read', ''],
  closed: ['closed', 'forbidden'],
};

function branch(place: Place): HTMLElement {
  const [text, kind] = badges[place.access];
  const row = el('li', {}, badge(text, kind), code(place.name));
  if (place.places.length > 0) row.append(el('ul', {}, ...place.places.map(branch)));
  return row;
}

function tree(profile: Profile): HTMLElement {
  const free = profile.type !== 'managed';
  const list = el('ul', { class: 'tree' });
  if (free) list.append(el('li', {}, badge('no sandbox', 'forbidden'), ` ${profile.type}: nothing is held back`));
  else list.append(branch(placesOf(profile)));
  if (profile.network) {
    const open = profile.network === 'enabled';
    list.append(el('li', {}, badge(open ? 'open' : 'closed', open ? 'allow' : 'forbidden'), 'the network'));
  }
  const writes = !free && profile.file_system?.entries?.some((entry) => entry.access === 'write');
  if (!writes) return list;
  const kept = 'Protected names (.git, .ssh, …) in what may be changed stay as they are, unless a line names them.';
  return el('div', {}, list, el('p', { class: 'quiet' }, kept));
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
