// node first_question.mjs LINK [PICTURE.png]: opens the console's link in headless Chromium, says when the first question
// stands there, takes a picture, answers with the key y and ends when the question is gone.
import { chromium } from '../../console/node_modules/playwright-core/index.mjs';

const [link, picture] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1000, height: 720 }, colorScheme: 'light' });
await page.goto(link);
const question = page.locator('.approval.selected');
await question.waitFor({ timeout: 60_000 });
console.log(`asked: ${await question.locator('h2').textContent()}`);
await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
if (picture) await page.screenshot({ path: picture });
await question.evaluate((card) => card.setAttribute('data-first', '')); // the next one may follow at once
await page.keyboard.press('y');
await page.locator('[data-first]').waitFor({ state: 'detached', timeout: 60_000 });
console.log('answered');
await browser.close();
